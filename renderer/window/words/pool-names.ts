/** What PCs, clusters and layers are called wherever the window speaks of them. */
import type { MemberView } from '../../../shared/messages/control.ts'

/** The name of a peer, or the end of its key where nobody told us its name. */
export const nameOf = (peer: string, members: readonly MemberView[]): string =>
  members.find((member) => member.peer === peer)?.displayName ?? `PC ${peer.slice(-5)}`

export const clusterName = (index: number): string =>
  index < 26 ? `Cluster ${String.fromCharCode(65 + index)}` : `Cluster ${index + 1}`

/** "Cluster A" within a sentence. */
export const clusterInText = (index: number): string => `cluster ${clusterName(index).slice(8)}`

export const layersInWords = ([from, to]: readonly [number, number]): string =>
  to - from === 1 ? `layer ${from + 1}` : `layers ${from + 1}–${to}`
