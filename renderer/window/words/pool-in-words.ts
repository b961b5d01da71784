/** The picture of the pool in sentences, for people who hear it. */
import { layPool } from './pool-layout.ts'
import type { PoolLayout, PoolView } from './pool-layout.ts'

/** More PCs than this are heard in the list below the picture, one at a time. */
const mostNamed = 12

function ringWords({ plan, self }: PoolView, many: number): string {
  if (many === 0) return 'One cluster: nothing to average.'
  const mine = plan.layout.rings.flatMap(({ members }, index) => (members.includes(self) ? [index + 1] : []))
  const here =
    mine.length === 0 ? '' : `; this PC is in ${mine.length === 1 ? 'ring' : 'rings'} ${mine.join(', ')}`
  const rings = plan.layout.rings.length
  return `${rings === 1 ? 'One ring joins' : `${rings} rings join`} the PCs that hold the same layers${here}.`
}

function everyPc({ clusters }: PoolLayout): string {
  return clusters
    .map(({ name, stages }) => {
      const said = stages.map(({ name: pc, me, layers, status }) => {
        const aside = [me ? 'this PC' : '', layers, status].filter((part) => part !== '').join(', ')
        return `${pc} (${aside})`
      })
      return `${name}: ${said.join(', then ')}.`
    })
    .join(' ')
}

/** Only who stands out. */
function someOf({ clusters }: PoolLayout): string {
  const stages = clusters.flatMap((row) => row.stages.map((stage) => ({ ...stage, row: row.name })))
  const mine = stages.find(({ me }) => me)
  const lost = stages.filter(({ tone }) => tone === 'lost').map(({ name }) => name)
  return [
    `${stages.length} PCs; the list below names each.`,
    mine === undefined ? '' : `This PC holds ${mine.layers} in ${mine.row}.`,
    lost.length === 0 ? '' : `Lost: ${lost.join(', ')}.`,
  ]
    .filter((part) => part !== '')
    .join(' ')
}

export function poolInWords(view: PoolView): string {
  const picture = layPool(view)
  const { clusters, rings } = picture
  const pcs = clusters.reduce((sum, { stages }) => sum + stages.length, 0)
  const head = clusters.length === 1 ? 'One cluster.' : `${clusters.length} clusters.`
  return `${head} ${pcs > mostNamed ? someOf(picture) : everyPc(picture)} ${ringWords(view, rings.length)}`
}
