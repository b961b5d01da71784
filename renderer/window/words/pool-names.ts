/** What PCs and clusters are called within the window's sentences. */
import type { MemberView } from '../../../shared/messages/control.ts'
import { clusterName } from '../../../shared/plan/words.ts'

/** The name of a peer, or the end of its key where nobody told us its name. */
export const nameOf = (peer: string, members: readonly MemberView[]): string =>
  members.find((member) => member.peer === peer)?.displayName ?? `PC ${peer.slice(-5)}`

/** "Cluster A" within a sentence. */
export const clusterInText = (index: number): string => `cluster ${clusterName(index).slice(8)}`
