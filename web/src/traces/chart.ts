/** The curves of a window, each as high as the chart, with the trigger as a line. */

import uPlot from "uplot";
import { axisOf, curve, HEIGHT, ink, padded, remake } from "../plot";
import { rowsOf, type Shown } from "./model";

export class Chart {
  readonly element = document.createElement("div");
  #plot: uPlot | null = null;
  #of: [Shown | null, number] = [null, 0];

  constructor() {
    this.element.className = "plot traced";
    remake(this.element, () => this.#draw());
  }

  /** Draws a window, unless it is drawn. */
  show(shown: Shown, window: number): HTMLElement {
    if (this.#of[0] !== shown || this.#of[1] !== window) {
      this.#of = [shown, window];
      this.#draw();
    }
    return this.element;
  }

  #draw(): void {
    const [shown, window] = this.#of;
    const width = this.element.clientWidth;
    this.#plot?.destroy();
    this.#plot = null;
    if (shown === null || width === 0) {
      return;
    }
    const [first, trigger, end] = rowsOf(shown, window);
    const zero = shown.seconds[trigger] ?? 0;
    const times = shown.seconds.slice(first, end).map(time => (time - zero) * 1e3);
    const series = shown.trace.variables.map(({ path }, index) => ({
      ...curve(path, index),
      scale: `y${index}`,
    }));
    const scales = Object.fromEntries(series.map((_, index) => [`y${index}`, { range: padded }]));
    this.#plot = new uPlot(
      {
        width,
        height: HEIGHT,
        cursor: { points: { show: false } },
        scales: { x: { time: false }, ...scales },
        axes: [axisOf("time from the trigger, ms")],
        series: [{ label: "ms" }, ...series],
        hooks: { draw: [plot => line(plot)] },
      },
      [times, ...shown.columns.map(column => column.slice(first, end))],
      this.element,
    );
  }
}

/** Draws the trigger, which is where the axis has its zero. */
function line(plot: uPlot): void {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(0, "x", true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = ink("text");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
