/** Step 5: how long it takes with 1 to N PCs like this one, and what will limit it. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { HostForecast } from '../../../../shared/messages/cards.ts'
import { Banner, Card, Fault } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { count, memory, range, rough, roughBytes, roughDuration, timeRange } from '../../words/numbers.ts'
import { asSentence } from '../../words/sentence.ts'
import { draft, forecast, forecasting, foresee } from './wizard-state.ts'

type Row = HostForecast['byPeers'][number]

function ForecastRow({ row, longest }: { readonly row: Row; readonly longest: number }): JSX.Element {
  const [low, high] = row.seconds
  const x = longest === 0 ? 0 : (low / longest) * 160
  const width = Math.max(2, longest === 0 ? 0 : ((high - low) / longest) * 160)
  return (
    <tr>
      <th scope="row" class="nowrap">
        {count(row.peers)}
      </th>
      <td>{row.peers === 1 ? 'this PC' : `this PC and ${count(row.peers - 1)} like it`}</td>
      <td class="barcell">
        {row.fits ? (
          <svg class="progress" viewBox="0 0 160 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="bar-track" width="160" height="8" />
            <rect class="bar-range" x={x} width={width} height="8" />
          </svg>
        ) : null}
      </td>
      <td class="n">{row.fits ? timeRange(row.seconds) : 'does not fit'}</td>
      <td class="n">{row.fits ? range(row.samplesPerSecond, rough) : ''}</td>
      <td class="n">{row.fits ? memory(row.memoryBytes) : ''}</td>
      <td class="n">{row.fits ? roughBytes(row.uploadBytesPerHour) : ''}</td>
    </tr>
  )
}

function Table({ seen }: { readonly seen: HostForecast }): JSX.Element {
  const longest = Math.max(0, ...seen.byPeers.filter(({ fits }) => fits).map(({ seconds }) => seconds[1]))
  return (
    <Card
      title="Time to finish"
      side={<span class="small">{`for all ${count(draft.value.recipe.updates)} updates`}</span>}
    >
      <table class="table forecast">
        <thead>
          <tr>
            <th scope="col">PCs</th>
            <th scope="col">Which</th>
            <th scope="col" class="barcell">
              <span class="axis-ends">
                <span>0</span>
                <span>{roughDuration(longest)}</span>
              </span>
            </th>
            <th scope="col" class="n">
              Time
            </th>
            <th scope="col" class="n">
              Samples/s
            </th>
            <th scope="col" class="n">
              Memory
            </th>
            <th scope="col" class="n">
              Upload an hour
            </th>
          </tr>
        </thead>
        <tbody>
          {seen.byPeers.map((row) => (
            <ForecastRow key={row.peers} row={row} longest={longest} />
          ))}
        </tbody>
      </table>
      <p class="small soft">{asSentence(seen.limitedBy)}</p>
      <p class="small soft">Memory and upload are those of the PC that is given most.</p>
    </Card>
  )
}

export function ForecastStep(): JSX.Element {
  useEffect(() => void foresee(), [])
  const seen = forecast.value
  return (
    <>
      {seen === null && forecasting.busy.value ? (
        <Banner tone="fine" icon="wait" title="Measuring this PC and planning">
          <p>A few training steps are run to see how fast it is. This takes up to a minute.</p>
        </Banner>
      ) : null}
      {forecasting.fault.value === '' ? null : (
        <section class="card">
          <Fault of={forecasting} />
          <Button onPress={foresee}>Try again</Button>
        </section>
      )}
      {seen === null ? null : <Table seen={seen} />}
    </>
  )
}
