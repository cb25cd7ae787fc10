/** Files that the page makes on the person's machine. */

/** Saves a table as a file of this name. */
export function saveCsv(name: string, text: string): void {
  save(`${name}.csv`, new Blob([text], { type: "text/csv" }));
}

/** Saves what a file of this name is to have. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
