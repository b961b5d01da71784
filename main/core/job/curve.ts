/** A curve that is watched for days in bounded memory: when it is full, every other point goes. */

const capacity = 512

/** Points in order, newest last, at most 512; the newest is always kept. */
export class Curve<Point> {
  #points: Point[] = []
  /** How often it was full: positions of points changed then, and only then. */
  thinnings = 0

  add(point: Point): void {
    if (this.#points.length === capacity) {
      this.thinnings++
      const last = capacity - 1
      this.#points = this.#points.filter((_, index) => (last - index) % 2 === 0)
    }
    this.#points.push(point)
  }

  get points(): readonly Point[] {
    return this.#points
  }
}
