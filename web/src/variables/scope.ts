/**
 * The scope: the trends of the picked variables, drawn at most once a frame, with two cursors.
 *
 * The right edge is the daemon's time now, or the instant at which the scope was paused; the axis
 * counts back from it. Cursors stay at their instant and move away with the trend.
 */

import uPlot from "uplot";
import { axisOf, curve, HEIGHT, ink, padded, remake } from "../plot";
import type { Recording } from "./recording";
import { thin } from "./thin";

export type CursorName = "A" | "B";

export class Scope {
  readonly element = document.createElement("div");
  /** Seconds that are shown. */
  spanS = 0;
  /** Time of the right edge while the scope is paused; null while it runs. */
  pausedAt: number | null = null;
  readonly cursors: Record<CursorName, number | null> = { A: null, B: null };
  /** True draws each trace as high as the scope, whatever its values. */
  isFitted = false;
  /** Paths of variables that are picked and not drawn. */
  hidden: readonly string[] = [];
  /** Hears the time of the right edge after the trends were drawn. */
  drawn: (edge: number) => void = () => undefined;

  #plot: uPlot | null = null;
  #isDense = false;
  #isRunning = false;
  #drawnAt = 0;
  #next: CursorName = "A";

  constructor(
    readonly recording: Recording,
    readonly changed: () => void,
  ) {
    this.element.className = "plot";
    remake(this.element, () => this.changeColumns());
    this.element.addEventListener("click", event => this.#click(event));
  }

  /** Draws for as long as the scope is in the page. */
  run(): void {
    if (!this.#isRunning) {
      this.#isRunning = true;
      requestAnimationFrame(() => this.#frame());
    }
  }

  /** Returns the time of the right edge, in seconds since the origin of the recording. */
  edge(): number {
    const { ring, skew } = this.recording;
    if (this.pausedAt !== null) {
      return this.pausedAt;
    }
    const now = performance.now() / 1_000 + skew;
    return Number.isFinite(now) ? Math.max(now, ring.length > 0 ? ring.lastTime() : now) : 0;
  }

  pause(): void {
    this.pausedAt = this.pausedAt === null ? this.edge() : null;
    this.#drawnAt = 0;
    this.changed();
  }

  /** Shows a span, on one scale or each trend on its own, and without some of the trends. */
  show(spanS: number, isFitted: boolean, hidden: readonly string[]): void {
    const isSame = isFitted === this.isFitted && hidden.join("\n") === this.hidden.join("\n");
    if (spanS !== this.spanS || !isSame) {
      Object.assign(this, { spanS, isFitted, hidden });
      this.changeColumns();
    }
  }

  clearCursors(): void {
    this.cursors.A = null;
    this.cursors.B = null;
    this.#next = "A";
    this.redraw();
  }

  /** Puts the next cursor at a time: A, then B, then A anew. */
  mark(time: number): void {
    this.cursors[this.#next] = time;
    this.#next = this.#next === "A" ? "B" : "A";
    this.redraw();
  }

  /** Moves a cursor by a hundredth of the span; one that is not there starts at the middle. */
  move(name: CursorName, steps: number): void {
    const edge = this.edge();
    const from = this.cursors[name] ?? edge - this.spanS / 2;
    const time = from + (steps * this.spanS) / 100;
    this.cursors[name] = Math.min(Math.max(time, edge - this.spanS), edge);
    this.redraw();
  }

  /** Does what a key means while the scope has the focus. */
  key(event: KeyboardEvent): void {
    const name = event.shiftKey ? "B" : "A";
    switch (event.key) {
      case "ArrowLeft":
        this.move(name, -1);
        break;
      case "ArrowRight":
        this.move(name, 1);
        break;
      case " ":
        this.pause();
        break;
      case "Escape":
        this.clearCursors();
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** Draws other columns, or the same ones in other colours. */
  changeColumns(): void {
    this.#plot?.destroy();
    this.#plot = null;
    this.#drawnAt = 0;
  }

  /** Draws once more, though nothing has moved. */
  redraw(): void {
    this.#drawnAt = 0;
    this.changed();
  }

  #frame(): void {
    if (!this.element.isConnected) {
      this.#isRunning = false;
      return;
    }
    requestAnimationFrame(() => this.#frame());
    const width = this.element.clientWidth;
    // The trend has to move by a pixel before it looks any different.
    const due = this.#drawnAt + Math.max((this.spanS / Math.max(width, 1)) * 1_000, 1);
    const isSettled = this.pausedAt !== null && this.#drawnAt > 0;
    if (width === 0 || isSettled || performance.now() < due) {
      return;
    }
    this.#drawnAt = performance.now();
    const edge = this.edge();
    this.#draw(width, edge);
    this.drawn(edge);
  }

  #draw(width: number, edge: number): void {
    const points = thin(this.recording.ring, edge - this.spanS, edge, width);
    const times = points.times.map(time => time - edge);
    this.#isDense = points.isDense;
    this.#plot ??= this.#make(width);
    this.#plot.setData([times, ...points.columns], false);
    this.#plot.setScale("x", { min: -this.spanS, max: 0 });
  }

  #click(event: MouseEvent): void {
    const over = this.#plot?.over.getBoundingClientRect();
    if (this.#plot === null || over === undefined) {
      return;
    }
    const x = event.clientX - over.left;
    if (x >= 0 && x <= over.width) {
      this.mark(this.edge() + this.#plot.posToVal(x, "x"));
    }
  }

  #make(width: number): uPlot {
    const traces = this.recording.rows.map(({ path }, index) => ({
      ...curve(path, index, () => this.#isDense),
      show: !this.hidden.includes(path),
      scale: this.isFitted ? `y${index}` : "y",
    }));
    const keys = this.isFitted ? traces.map((_, index) => `y${index}`) : ["y"];
    const scales = Object.fromEntries(keys.map(key => [key, { range: padded }]));
    return new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, auto: false }, ...scales },
        axes: [
          axisOf("time before the right edge, s"),
          ...(this.isFitted ? [] : [{ ...axisOf(), scale: "y" }]),
        ],
        series: [{}, ...traces],
        hooks: { draw: [plot => this.#drawCursors(plot)] },
      },
      [[], ...traces.map(() => [])],
      this.element,
    );
  }

  #drawCursors(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const edge = this.edge();
    for (const name of ["A", "B"] as const) {
      const time = this.cursors[name];
      if (time === null || time < edge - this.spanS || time > edge) {
        continue;
      }
      const x = Math.round(plot.valToPos(time - edge, "x", true)) + 0.5;
      ctx.save();
      ctx.strokeStyle = ink("text");
      ctx.fillStyle = ink("text");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash(name === "A" ? [] : [5 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = "left";
      ctx.fillText(name, x + 4 * devicePixelRatio, bbox.top + 13 * devicePixelRatio);
      ctx.restore();
    }
  }
}
