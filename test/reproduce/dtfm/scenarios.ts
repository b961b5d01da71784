/**
 * The five networks of 64 devices of Yuan et al. 2022, "Decentralized training of foundation models in heterogeneous
 * environments" (arXiv 2206.01288): delays and bandwidths as measured by them (github.com/DS3Lab/DT-FM, MIT licence, see
 * `LICENSE-DT-FM.txt`). Within a region 5 ms, as their comments say; one of their files has 10.
 */

/** Symmetric: between devices a and b at [a · devices + b]. */
export interface Network {
  readonly name: string
  readonly devices: number
  readonly delaySeconds: Float64Array
  readonly gigabitsPerSecond: Float64Array
}

export interface Scenario extends Network {
  /** The least cost known before, in seconds: structured layouts, and annealing by an implementation of its own. */
  readonly bestKnown: number
  /** Of stage = region, and of one device of each region a stage; of random groups at best order: their mean. */
  readonly published: { readonly block: number; readonly strided: number; readonly random: number }
}

/** Milliseconds and Gbit/s. */
type Line = readonly [delay: number, gigabits: number]

const devices = 64

function network(name: string, lineOf: (a: number, b: number) => Line): Network {
  const delaySeconds = new Float64Array(devices * devices)
  const gigabitsPerSecond = new Float64Array(devices * devices).fill(Infinity)
  for (let a = 0; a < devices; a++) {
    for (let b = 0; b < devices; b++) {
      if (a === b) continue
      const [delay, gigabits] = lineOf(Math.min(a, b), Math.max(a, b))
      delaySeconds[a * devices + b] = delay / 1000
      gigabitsPerSecond[a * devices + b] = gigabits
    }
  }
  return { name, devices, delaySeconds, gigabitsPerSecond }
}

/** Equal regions of consecutive devices; `across` names two of them as `Or-Va`. */
function regions(names: string, inside: Line, across: string): (a: number, b: number) => Line {
  const list = names.split(' ')
  const size = devices / list.length
  const lines = new Map<string, Line>()
  for (const entry of across.split(/\s+/).filter((text) => text !== '')) {
    const [pair = '', delay = '', gigabits = ''] = entry.split(/[:/]/)
    lines.set(pair, [Number(delay), Number(gigabits)])
  }
  return (a, b) => {
    const [one, other] = [list[Math.floor(a / size)] ?? '', list[Math.floor(b / size)] ?? '']
    return one === other ? inside : (lines.get(`${one}-${other}`) ?? lines.get(`${other}-${one}`) ?? inside)
  }
}

const machineOf = (device: number, size: number) => Math.floor(device / size)

export const scenarios: readonly Scenario[] = [
  {
    ...network('data centre on demand', (a, b) => [0, machineOf(a, 8) === machineOf(b, 8) ? 100 : 3.125]),
    bestKnown: 3.44,
    published: { block: 16.98, strided: 3.44, random: 19.74 },
  },
  {
    ...network('data centre spot', (a, b) => [0, b < 32 && machineOf(a, 4) === machineOf(b, 4) ? 100 : 1.25]),
    bestKnown: 49.5,
    published: { block: 49.5, strided: 49.5, random: 49.5 },
  },
  {
    ...network('two organisations', regions('Oh Va', [1, 5], 'Oh-Va:11/1.12')),
    bestKnown: 16.09,
    published: { block: 17.65, strided: 16.09, random: 36.88 },
  },
  {
    ...network(
      'regional',
      regions(
        'Va Or Ca Oh',
        [5, 2],
        'Va-Or:67/1.15 Va-Ca:59/1.05 Va-Oh:11/1.12 Or-Ca:12/1.25 Or-Oh:49/1.10 Ca-Oh:52/1.02',
      ),
    ),
    bestKnown: 34.8,
    published: { block: 39.24, strided: 34.8, random: 54.74 },
  },
  {
    ...network(
      'world-wide',
      regions(
        'Or Va Oh To Se Lo Fr Ir',
        [5, 2],
        `Or-Va:67/.79 Or-Oh:49/1.10 Or-To:96/.523 Or-Se:124/.46 Or-Lo:136/.42 Or-Fr:143/.404 Or-Ir:124/.482
         Va-Oh:11/1.12 Va-To:143/.524 Va-Se:172/.500 Va-Lo:76/1.16 Va-Fr:90/1.02 Va-Ir:67/1.05
         Oh-To:130/.694 Oh-Se:159/.529 Oh-Lo:86/1.05 Oh-Fr:99/.799 Oh-Ir:77/1.14
         To-Se:34/1.10 To-Lo:210/.366 To-Fr:223/.36 To-Ir:199/.465 Se-Lo:238/.342 Se-Fr:235/.358 Se-Ir:228/.335
         Lo-Fr:14/1.14 Lo-Ir:12/1.09 Fr-Ir:24/1.08`,
      ),
    ),
    bestKnown: 49.22,
    published: { block: 59.44, strided: 49.22, random: 92.61 },
  },
]
