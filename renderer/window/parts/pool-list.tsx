/** The pool as a list: what the picture shows, with every name whole. */
import type { JSX } from 'preact'
import { layPool } from '../words/pool-layout.ts'
import type { PoolView, StageBox } from '../words/pool-layout.ts'

/** Its state, and what it waits for at this moment. */
function nowWords({ peer, status, tone }: StageBox, { members }: PoolView): string {
  const reason = members.find((member) => member.peer === peer)?.reason ?? ''
  const wait = tone === 'plain' || tone === 'slow' ? reason : ''
  const words = [status, wait].filter((part) => part !== '').join('; ')
  return words === '' ? 'not known here' : words
}

export function PoolList({ view }: { readonly view: PoolView }): JSX.Element {
  return (
    <details class="pool-list">
      <summary>As a list</summary>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Cluster</th>
            <th scope="col">PC</th>
            <th scope="col">Holds</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {layPool(view).clusters.flatMap(({ name, stages }) =>
            stages.map((stage) => (
              <tr key={stage.peer}>
                <td class="nowrap">{name}</td>
                <th scope="row">
                  {stage.name}
                  {stage.me ? <span class="soft"> (this PC)</span> : null}
                </th>
                <td class="nowrap">{stage.layers}</td>
                <td>{nowWords(stage, view)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </details>
  )
}
