/**
 * XY: variables over another one, in the span of the scope and from its recording.
 *
 * A line joins each sample with the next one, since all values of a sample are of one instant, and
 * breaks where values are missing. A dot is the newest sample; rings are the samples at cursors.
 */

import uPlot from "uplot";
import { axisOf, ink, padded, penOf, remake } from "../plot";
import { thinXy } from "./thin";

/** Height of the plot in pixels; that of the trends beside it, less the line above. */
const HEIGHT = 296;
/** Pixels for each sample from which on the samples themselves are seen. */
const SPARSE = 4;

/** The samples to draw: from `first` up to, and without, `end`. */
export interface Stretch {
  first: number;
  end: number;
  /** Names of the columns; a column has the colour of its number. */
  names: string[];
  /** The column across, and those upwards. */
  x: number;
  ys: number[];
  value(column: number, sample: number): number;
  time(sample: number): number;
  /** True draws each column as high as the plot. */
  isFitted: boolean;
  /** Samples with a ring, and the letter beside it. */
  marked: [string, number][];
}

/** A sample as it was when it was drawn: the recording goes on while the scope is paused. */
interface Point {
  x: number;
  y: number;
  time: number;
}

/** A column over another: its points, and the scale that it is drawn on. */
interface Curve {
  y: number;
  scale: string;
  points: Point[];
  /** Points with a ring, and the letter beside it. */
  marked: [string, Point][];
}

export class Xy {
  readonly element = document.createElement("div");
  #plot: uPlot | null = null;
  /** What the plot was made for. */
  #frame = "";
  #isFitted = false;
  #curves: Curve[] = [];

  /** `again` draws once more, `chosen` hears the time of the sample that is nearest to a click. */
  constructor(again: () => void, chosen: (time: number) => void) {
    this.element.className = "plot";
    remake(this.element, () => {
      this.#forget();
      again();
    });
    this.element.addEventListener("click", event => {
      const time = this.#nearest(event);
      if (time !== null) {
        chosen(time);
      }
    });
  }

  draw(stretch: Stretch): void {
    const { first, end, names, x, ys, value, isFitted, marked } = stretch;
    const width = this.element.clientWidth;
    if (width === 0) {
      return;
    }
    this.#isFitted = isFitted;
    this.#curves = ys.map(y => {
      const of = (column: number) => (sample: number) => value(column, sample);
      const point = (sample: number): Point => {
        return { x: value(x, sample), y: value(y, sample), time: stretch.time(sample) };
      };
      return {
        y,
        scale: isFitted ? `y${y}` : "y",
        points: thinXy(of(x), of(y), first, end).map(point),
        marked: marked.map(([letter, sample]) => [letter, point(sample)]),
      };
    });
    const frame = JSON.stringify([names[x], ys, isFitted]);
    if (frame !== this.#frame) {
      this.#forget();
      this.#frame = frame;
    }
    this.#plot ??= this.#make(width, names[x]);
    this.#fit(this.#plot);
  }

  #forget(): void {
    this.#plot?.destroy();
    this.#plot = null;
  }

  #make(width: number, name = ""): uPlot {
    const scales = this.#curves.map(({ scale }) => [scale, { range: padded, auto: false }]);
    return new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: {
          x: { time: false, auto: false, range: padded },
          ...Object.fromEntries(scales),
        },
        axes: [axisOf(name), ...(this.#isFitted ? [] : [{ ...axisOf(), scale: "y" }])],
        series: [{}],
        hooks: { draw: [plot => this.#paint(plot)] },
      },
      [[]],
      this.element,
    );
  }

  /** Brings the axes to the values, and thereby paints. */
  #fit(plot: uPlot): void {
    const ranges: Record<string, { min: number; max: number }> = {};
    const widen = (scale: string, least: number, greatest: number) => {
      ranges[scale] ??= { min: Infinity, max: -Infinity };
      const range = ranges[scale];
      range.min = Math.min(range.min, least);
      range.max = Math.max(range.max, greatest);
    };
    // Even where there is nothing to show, an axis that is set has the plot painted.
    widen("x", Infinity, -Infinity);
    for (const { scale, points } of this.#curves) {
      for (const { x, y } of points.filter(({ x, y }) => Number.isFinite(x + y))) {
        widen("x", x, x);
        widen(scale, y, y);
      }
    }
    plot.batch(() => {
      for (const [scale, range] of Object.entries(ranges)) {
        plot.setScale(scale, range);
      }
    });
  }

  /** Returns where a point of a curve lies, in pixels of the canvas or of the page. */
  #at(plot: uPlot, { scale }: Curve, { x, y }: Point, isCanvas: boolean): [number, number] {
    return [plot.valToPos(x, "x", isCanvas), plot.valToPos(y, scale, isCanvas)];
  }

  #paint(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const dot = 2 * devicePixelRatio;
    ctx.save();
    ctx.lineCap = ctx.lineJoin = "round";
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    for (const curve of this.#curves) {
      const { stroke, width, dash } = penOf(curve.y);
      const isSparse = curve.points.length * SPARSE * devicePixelRatio < bbox.width;
      let newest: Point | null = null;
      let isJoined = false;
      ctx.strokeStyle = ctx.fillStyle = stroke;
      ctx.lineWidth = width * devicePixelRatio;
      ctx.setLineDash(dash.map(length => length * devicePixelRatio));
      ctx.beginPath();
      for (const point of curve.points) {
        const [h, v] = this.#at(plot, curve, point, true);
        const isThere = Number.isFinite(h + v);
        if (isThere && !isJoined) {
          ctx.moveTo(h, v);
        }
        if (isThere) {
          ctx.lineTo(h, v);
          newest = point;
        }
        if (isThere && isSparse) {
          ctx.rect(h - dot / 2, v - dot / 2, dot, dot);
          ctx.moveTo(h, v);
        }
        isJoined = isThere;
      }
      ctx.stroke();
      ctx.setLineDash([]);
      for (const [letter, point] of curve.marked) {
        this.#mark(plot, curve, point, letter);
      }
      if (newest !== null) {
        this.#mark(plot, curve, newest, "");
      }
    }
    ctx.restore();
  }

  /** Marks a point: with a letter as a ring, without one as a dot. */
  #mark(plot: uPlot, curve: Curve, point: Point, letter: string): void {
    const { ctx } = plot;
    const [h, v] = this.#at(plot, curve, point, true);
    ctx.beginPath();
    ctx.arc(h, v, (letter === "" ? 4 : 6) * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fillStyle = letter === "" ? ctx.strokeStyle : ink("panel");
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = ink("text");
    ctx.fillText(letter, h + 7 * devicePixelRatio, v - 3 * devicePixelRatio);
  }

  /** Returns the time of the sample that lies nearest to a click; null where there is none. */
  #nearest({ clientX, clientY }: MouseEvent): number | null {
    const plot = this.#plot;
    if (plot === null) {
      return null;
    }
    const { left, top } = plot.over.getBoundingClientRect();
    let nearest: number | null = null;
    let least = Infinity;
    for (const curve of this.#curves) {
      for (const point of curve.points) {
        const [h, v] = this.#at(plot, curve, point, false);
        const distance = Math.hypot(h + left - clientX, v + top - clientY);
        if (distance < least) {
          least = distance;
          nearest = point.time;
        }
      }
    }
    return nearest;
  }
}
