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

/** In a narrow window it stands below the one before, with its name. */
function Figure({ name, children }: { readonly name: string; readonly children: string }): JSX.Element {
  return (
    <td class="n" data-name={children === '' ? undefined : name}>
      {children}
    </td>
  )
}

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
      <Figure name="Time">{row.fits ? timeRange(row.seconds) : 'does not fit'}</Figure>
      <Figure name="Samples/s">{row.fits ? range(row.samplesPerSecond, rough) : ''}</Figure>
      <Figure name="Memory">{row.fits ? memory(row.memoryBytes) : ''}</Figure>
      <Figure name="Upload an hour">{row.fits ? roughBytes(row.uploadBytesPerHour) : ''}</Figure>
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
      <div class="forecast-box">
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
              {['Time', 'Samples/s', 'Memory', 'Upload an hour'].map((name) => (
                <th key={name} scope="col" class="n">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {seen.byPeers.map((row) => (
              <ForecastRow key={row.peers} row={row} longest={longest} />
            ))}
          </tbody>
        </table>
      </div>
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
