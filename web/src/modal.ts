/** Dialogs above the page: opened when they are drawn, shut by their buttons. */

/** Opens the dialog above the page, which is out of reach until it is closed. */
export function openModal(element: Element | undefined): void {
  // The element joins the document only when the whole page has been drawn.
  queueMicrotask(() => {
    if (element instanceof HTMLDialogElement && element.isConnected && !element.open) {
      element.showModal();
    }
  });
}

/** Gives the focus to what took the place of the element that had it. */
export function focus(element: Element | undefined): void {
  queueMicrotask(() => (element as HTMLElement | undefined)?.focus());
}

/** Closes the dialog that holds the element; the browser gives the focus back. */
export function shut(event: Event): void {
  (event.currentTarget as Element).closest("dialog")?.close();
}
