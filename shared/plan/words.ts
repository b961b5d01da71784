/** What clusters and layers are called wherever people read of them: clusters by letter, layers counted from one. */
import type { LayerRange } from '../model/graph.ts'

/** `Cluster A` for the first one; those after Z have numbers. */
export const clusterName = (index: number): string =>
  index < 26 ? `Cluster ${String.fromCharCode(65 + index)}` : `Cluster ${index + 1}`

/** `layers 1–3` or `layer 4`: both ends are meant. */
export const layersInWords = ([from, to]: LayerRange): string =>
  to - from === 1 ? `layer ${from + 1}` : `layers ${from + 1}–${to}`
