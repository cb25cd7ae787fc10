/** Values of variables: as a number for the scope, as a text for people and for the daemon. */

import type { Value } from "../contract/quietcore/v1/variable";

/** Significant digits of a value in a table; its title has all of them. */
const DIGITS = 6;

/** Returns the value as a number: truth as 0 and 1, an enumeration as its number. */
export function numberOf(value: Value): number {
  const { kind } = value;
  switch (kind?.$case) {
    case "boolean":
      return kind.value ? 1 : 0;
    case "signed":
    case "unsigned":
    case "address":
      return Number(kind.value);
    case "single":
    case "double":
      return kind.value;
    case "enumeration":
      return Number(kind.value.number);
    default:
      return Number.NaN;
  }
}

/** Returns the value in full, in the notation that the daemon takes for a change. */
export function textOf(value: Value): string {
  const { kind } = value;
  switch (kind?.$case) {
    case "boolean":
      return kind.value ? "true" : "false";
    case "signed":
    case "unsigned":
      return kind.value.toString();
    case "address":
      return `0x${kind.value.toString(16)}`;
    case "single":
      return shortest(kind.value);
    case "double":
      return String(kind.value);
    case "enumeration":
      return kind.value.name === "" ? kind.value.number.toString() : kind.value.name;
    default:
      return "";
  }
}

/** Returns the shortest number that a 32-bit float reads back as `value`: it has nine digits. */
function shortest(value: number): string {
  for (let digits = 1; digits <= 9; digits += 1) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) {
      return text;
    }
  }
  return String(value);
}

/** Returns a number to be read: short where that is exact, else in six digits. */
export function shortOf(value: number): string {
  const text = String(value);
  const isShort = text.length <= DIGITS + 2 || !Number.isFinite(value);
  return (isShort ? text : value.toPrecision(DIGITS)).replaceAll("-", "\u2212");
}

/** Returns the value as a table shows it. */
export function tableText(value: Value): string {
  const { kind } = value;
  if (kind?.$case === "single" || kind?.$case === "double") {
    return shortOf(Number(textOf(value)));
  }
  if (kind?.$case === "enumeration" && kind.value.name !== "") {
    return `${kind.value.name} (${kind.value.number})`;
  }
  return textOf(value);
}
