/** Step 4: how long the invite works and when training starts. */
import type { JSX } from 'preact'
import { Card } from '../../parts/blocks.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { change, draft } from './wizard-state.ts'

const lengths: readonly (readonly [hours: number, words: string])[] = [
  [1, '1 hour'],
  [24, '1 day'],
  [24 * 7, '1 week'],
  [24 * 30, '30 days'],
]

function InviteLength(): JSX.Element {
  return (
    <Card title="Who may join">
      <p>Whoever has the link. It cannot be guessed; it carries a secret that this PC checks.</p>
      <fieldset class="actions">
        <legend class="soft">The link works for</legend>
        {lengths.map(([hours, words]) => (
          <label key={hours} class="check">
            <input
              type="radio"
              name="invite-hours"
              checked={draft.value.inviteHours === hours}
              onChange={() => {
                change({ inviteHours: hours })
              }}
            />
            {words}
          </label>
        ))}
      </fieldset>
      <p class="soft">
        Members get the parts of your data that they train on, and this PC’s name and network address. Remove
        a PC at any time; it cannot come back with the same link.
      </p>
    </Card>
  )
}

function StartWhen(): JSX.Element {
  const waits = draft.value.startAtPeers > 0
  return (
    <Card title="When to start">
      <div class="stack-2">
        <label class="check">
          <input
            type="radio"
            name="start"
            checked={!waits}
            onChange={() => {
              change({ startAtPeers: 0 })
            }}
          />
          When I choose “Start now”
        </label>
        <div class="row wrap">
          <label class="check">
            <input
              type="radio"
              name="start"
              checked={waits}
              onChange={() => {
                change({ startAtPeers: 3 })
              }}
            />
            {waits
              ? 'By itself, as soon as so many PCs are there:'
              : 'By itself, as soon as enough PCs are there'}
          </label>
          {waits ? (
            <NumberInput
              label="PCs, this one included"
              value={draft.value.startAtPeers}
              unit="PCs, this one included"
              bounds={{ least: 1, most: 10_000, whole: true }}
              onValue={(startAtPeers) => {
                change({ startAtPeers })
              }}
            />
          ) : null}
        </div>
        <p class="soft">In any case it starts after a day with whoever is there.</p>
      </div>
    </Card>
  )
}

export function WhoStep(): JSX.Element {
  return (
    <>
      <InviteLength />
      <StartWhen />
    </>
  )
}
