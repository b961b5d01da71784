/** Mean and deviation of the k-th smallest of n values, each a growing function of a normal number, by integration. */

const widest = 9
const cells = 20_000

export interface OrderStatistic {
  readonly workers: number
  readonly awaited: number
  readonly value: (z: number) => number
}

/**
 * The k-th smallest is at most z with probability Σ_{j ≥ k} C(n,j) Φ^j (1−Φ)^(n−j); its density follows without sums:
 * n·C(n−1,k−1)·Φ^(k−1)·(1−Φ)^(n−k)·φ.
 */
export function expectedOrderStatistic({ workers: n, awaited: k, value }: OrderStatistic) {
  const width = (2 * widest) / cells
  const constant = logFactorial(n) - logFactorial(k - 1) - logFactorial(n - k)
  // Φ is summed up from both ends: where it is near 1, what is missing to 1 counts.
  const density = Float64Array.from({ length: cells }, (_, cell) => normalDensity(zOf(cell, width)))
  const below = accumulate(density, width)
  const above = accumulate(density.toReversed(), width).reverse()
  let [mass, first, second] = [0, 0, 0]
  for (let cell = 0; cell < cells; cell++) {
    const z = zOf(cell, width)
    const logs = powerLog(below[cell] ?? 0, k - 1) + powerLog(above[cell] ?? 0, n - k)
    const weight = Math.exp(constant + logs) * (density[cell] ?? 0) * width
    mass += weight
    first += weight * value(z)
    second += weight * value(z) ** 2
  }
  const mean = first / mass
  return { mean, deviation: Math.sqrt(second / mass - mean ** 2), mass }
}

const zOf = (cell: number, width: number) => (cell + 0.5) * width - widest
const normalDensity = (z: number) => Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI)
/** x^exponent as a logarithm; 0^0 = 1. */
const powerLog = (x: number, exponent: number) => (exponent === 0 ? 0 : exponent * Math.log(x))

/** Up to the middle of each cell. */
function accumulate(density: Float64Array, width: number): Float64Array {
  let sum = 0
  return density.map((value) => {
    sum += value * width
    return sum - (value * width) / 2
  })
}

function logFactorial(n: number): number {
  let sum = 0
  for (let factor = 2; factor <= n; factor++) sum += Math.log(factor)
  return sum
}
