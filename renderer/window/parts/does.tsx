/** "Is it mining?" answered where people look first. */
import type { JSX } from 'preact'
import { Card } from './blocks.tsx'
import { Icon } from './icon.tsx'

const rows: readonly (readonly [does: string, doesNot: string])[] = [
  ['Trains jobs you join, within your limits', 'No mining, no ads, nothing sold'],
  ['Talks only to PCs of that job, encrypted', 'No reading of your files or programs'],
  ['Stops seconds after you pause or quit', 'No job you did not agree to'],
]

export function Does(): JSX.Element {
  return (
    <Card title="What Rookery does on this PC">
      <ul class="does">
        {rows.flatMap(([does, doesNot]) => [
          <li key={does}>
            <Icon name="ok" />
            <span>{does}</span>
          </li>,
          <li key={doesNot}>
            <Icon name="no" />
            <span>{doesNot}</span>
          </li>,
        ])}
      </ul>
    </Card>
  )
}
