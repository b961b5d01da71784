/** The job as faces see it: moments on the wall's clock, which core does not know. */
import type { JobView } from '../../shared/messages/control.ts'
import type { Millis } from '../../shared/units.ts'

type View = Omit<JobView, 'invite'>

/** @param originMs - of the agent's clock, since 1970; always the same, so that a moment stays what it was */
export function onTheWall(view: View, originMs: Millis = performance.timeOrigin): View {
  const { lastAveragedAtMs } = view
  const wall = (atMs: Millis) => Math.max(0, Math.round(originMs + atMs))
  return {
    ...view,
    log: view.log.map((line) => ({ ...line, atMs: wall(line.atMs) })),
    members: view.members.map((member) =>
      member.lostAtMs === undefined ? member : { ...member, lostAtMs: wall(member.lostAtMs) },
    ),
    ...(lastAveragedAtMs === undefined ? {} : { lastAveragedAtMs: wall(lastAveragedAtMs) }),
  }
}
