/** The variables of a program, found by a filter and shown by pages. */

import { ANSWER_MS_MAX, type Calls, sentenceOf } from "../calls";
import type { Variable } from "../contract/quietcore/v1/variable";

/** Variables of a page. */
export const PAGE_SIZE = 100;
/** Time without a keystroke after which a filter is asked for. */
const REST_MS = 200;

/** Returns the pattern for what a person typed: a part of a path, unless it has wildcards. */
export function patternOf(filter: string): string {
  const text = filter.trim();
  return text === "" || /[*?]/.test(text) ? text : `*${text}*`;
}

export class Listing {
  variables: Variable[] = [];
  filter = "";
  refused: string | null = null;
  isAsking = false;

  /** Tokens of the pages up to the one that is shown; the first page has the empty one. */
  #tokens = [""];
  #next = "";
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly calls: Calls,
    readonly site: string,
    readonly partition: string,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void,
  ) {}

  /** Number of the page that is shown, from 1. */
  get page(): number {
    return this.#tokens.length;
  }

  get hasNext(): boolean {
    return this.#next !== "";
  }

  /** Lists what a filter finds, as soon as no more is typed. */
  find(filter: string): void {
    this.filter = filter;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.begin(), REST_MS);
  }

  /** Lists the first page. */
  begin(): Promise<void> {
    this.#tokens = [""];
    return this.#ask();
  }

  next(): Promise<void> {
    this.#tokens.push(this.#next);
    return this.#ask();
  }

  previous(): Promise<void> {
    this.#tokens.pop();
    return this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    this.isAsking = true;
    this.changed();
    const { site, partition } = this;
    const request = {
      site,
      partition,
      pattern: patternOf(this.filter),
      pageSize: PAGE_SIZE,
      pageToken: this.#tokens.at(-1) ?? "",
    };
    try {
      const answer = await this.calls.variables.listVariables(request, {
        timeoutMs: ANSWER_MS_MAX,
      });
      if (asked === this.#asked) {
        this.variables = answer.variables;
        this.#next = answer.nextPageToken;
        this.refused = null;
      }
    } catch (error) {
      if (asked === this.#asked) {
        this.variables = [];
        this.#next = "";
        this.refused = sentenceOf(error);
        this.failed(error);
      }
    }
    if (asked === this.#asked) {
      this.isAsking = false;
      this.changed();
    }
  }
}
