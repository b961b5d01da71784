/** What the agent saw in the data: rows that cannot be used, and a few samples as the pool would see them. */
import type { JSX } from 'preact'
import type { DataPreview } from '../../../../shared/messages/cards.ts'
import { Banner, Card } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { count } from '../../words/numbers.ts'
import { inspect, inspecting } from './wizard-state.ts'

/** "2 of 1,797 rows" where all of them are rows of the samples, else "2 places". */
function placesWords({ faults, samples }: DataPreview): string {
  const one = faults.length === 1
  if (faults.every(({ where }) => /^row\b/.test(where)) && samples > 0)
    return `${count(faults.length)} of ${count(samples)} rows cannot be used`
  return `${count(faults.length)} ${one ? 'place' : 'places'} cannot be used`
}

export function DataFaults({ seen }: { readonly seen: DataPreview }): JSX.Element {
  const { faults } = seen
  const shown = faults.slice(0, 8)
  return (
    <Banner tone="trouble" icon="bad" title={placesWords(seen)}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">What is wrong</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ where, problem }) => (
            <tr key={where}>
              <td class="nowrap">{where}</td>
              <td>{problem}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {faults.length > shown.length ? <p>And {count(faults.length - shown.length)} more.</p> : null}
      <div class="actions">
        <Button busy={inspecting.busy.value} onPress={inspect}>
          Check again
        </Button>
        <span class="soft">once the file is corrected</span>
      </div>
    </Banner>
  )
}

export function DataSamples({ seen }: { readonly seen: DataPreview }): JSX.Element {
  const pictures = seen.examples.every(({ picture }) => picture !== undefined)
  return (
    <Card
      title="What the pool would see"
      side={<span class="small">{`${seen.examples.length} of ${count(seen.samples)} samples`}</span>}
    >
      {seen.examples.length === 0 ? <p class="soft">No sample can be shown.</p> : null}
      <ul class={pictures ? 'samples' : 'samples texts'}>
        {seen.examples.map(({ label, text, picture }, index) => (
          <li key={index}>
            {picture === undefined ? (
              <span class="sample-text mono">{text}</span>
            ) : (
              <img src={picture} alt="" />
            )}
            <span>{label}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
