/**
 * Writes the parts of protobuf's wire format.
 *
 * The bytes are numbers in a list until the message is whole: what the page sends is small.
 */

/** Appends an integer of 64 bits without a sign. */
export function writeVarint(bytes: number[], value: bigint): void {
  let rest = value;
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
}

/** Appends `content` behind its length. */
export function writeBytes(bytes: number[], content: Uint8Array | number[]): void {
  writeVarint(bytes, BigInt(content.length));
  append(bytes, content);
}

/** Appends `size` bytes that `set` fills. */
export function writeFixed(bytes: number[], size: number, set: (view: DataView) => void): void {
  const content = new Uint8Array(size);
  set(new DataView(content.buffer));
  append(bytes, content);
}

/** Appends one by one, since a call of `push` takes only so many arguments. */
function append(bytes: number[], content: Iterable<number>): void {
  for (const byte of content) {
    bytes.push(byte);
  }
}
