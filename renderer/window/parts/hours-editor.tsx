/** The hours of the week: shown as lines of equal days, changed day by day. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { DayRule, Hours } from '../words/hours.ts'
import { dayNames, groupDays, minutesAsTime, ruleOf, spansOf, timeAsMinutes } from '../words/hours.ts'
import { FaultText } from './blocks.tsx'
import { Button } from './button.tsx'
import type { EditorProps } from './limit-editor.ts'

const allWeek: Hours = Array.from({ length: 7 }, () => [[0, 1440] as [number, number]])
const night: DayRule = { kind: 'span', from: 21 * 60, to: 7 * 60 }

function Week({ hours }: { readonly hours: Hours }): JSX.Element {
  return (
    <ul class="week">
      {groupDays(hours).map(({ days, spans, words }) => (
        <li key={days}>
          <span>{days}</span>
          <svg viewBox="0 0 1440 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="bar-track" width="1440" height="8" />
            {spans.map(([from, to]) => (
              <rect key={from} class="bar-fill" x={from} width={to - from} height="8" />
            ))}
          </svg>
          <span class="soft nowrap">{words}</span>
        </li>
      ))}
    </ul>
  )
}

interface DayProps {
  readonly name: string
  readonly rule: DayRule
  readonly onRule: (rule: DayRule) => void
}

interface TimeProps {
  readonly label: string
  readonly minutes: number
  readonly onMinutes: (minutes: number) => void
}

/** Text and not a time input: those follow the system's 12 or 24 hours, and none can say 24:00. */
function Time({ label, minutes, onMinutes }: TimeProps): JSX.Element {
  const refused = useSignal<string | null>(null)
  return (
    <>
      <input
        class={refused.value === null ? 'input time' : 'input time bad'}
        placeholder="21:00"
        aria-label={label}
        aria-invalid={refused.value === null ? undefined : true}
        value={refused.value ?? minutesAsTime(minutes)}
        onChange={(event) => {
          const text = event.currentTarget.value
          const typed = timeAsMinutes(text)
          refused.value = typed === undefined ? text : null
          if (typed !== undefined) onMinutes(typed)
        }}
      />
      {refused.value === null ? null : <FaultText text="Type a time like 21:00." />}
    </>
  )
}

function Day({ name, rule, onRule }: DayProps): JSX.Element {
  return (
    <li class="day">
      <span>{name}</span>
      <select
        class="select"
        aria-label={`${name}: when`}
        value={rule.kind}
        onChange={(event) => {
          const kind = event.currentTarget.value
          if (kind === 'all' || kind === 'never') onRule({ kind })
          else if (kind === 'span') onRule(night)
        }}
      >
        <option value="all">All day</option>
        <option value="never">Not at all</option>
        <option value="span">From – to</option>
        {rule.kind === 'several' ? <option value="several">Several times</option> : null}
      </select>
      {rule.kind === 'span' ? (
        <span class="with-unit">
          <Time
            label={`${name}: from`}
            minutes={rule.from}
            onMinutes={(from) => {
              onRule({ ...rule, from })
            }}
          />
          –
          <Time
            label={`${name}: to`}
            minutes={rule.to}
            onMinutes={(to) => {
              // Midnight as an end is the end of the day.
              onRule({ ...rule, to: to === 0 ? 1440 : to })
            }}
          />
        </span>
      ) : null}
    </li>
  )
}

interface DaysProps {
  readonly hours: Hours
  readonly onHours: (hours: Hours) => void
  readonly onDone: () => void
}

function Days({ hours, onHours, onDone }: DaysProps): JSX.Element {
  const monday = ruleOf(hours[0] ?? [])
  return (
    <>
      <ul class="days">
        {dayNames.map((name, day) => (
          <Day
            key={name}
            name={name}
            rule={ruleOf(hours[day] ?? [])}
            onRule={(rule) => {
              onHours(hours.map((spans, index) => (index === day ? spansOf(rule) : spans)))
            }}
          />
        ))}
      </ul>
      <p class="small soft">From 21:00 to 07:00 means that day before 07:00 and after 21:00.</p>
      <div class="actions">
        <Button
          onPress={() => {
            onHours(hours.map(() => spansOf(monday)))
          }}
        >
          All days as Monday
        </Button>
        <Button
          onPress={() => {
            onHours(allWeek)
          }}
        >
          At all hours
        </Button>
        <Button kind="plain" onPress={onDone}>
          Done
        </Button>
      </div>
    </>
  )
}

export function HoursEditor({ set, change }: EditorProps): JSX.Element {
  const open = useSignal(false)
  if (open.value)
    return (
      <Days
        hours={set.hours ?? allWeek}
        onHours={(hours) => {
          change({ hours })
        }}
        onDone={() => {
          open.value = false
        }}
      />
    )
  return (
    <>
      {set.hours === undefined ? <span>At all hours</span> : <Week hours={set.hours} />}
      <button
        type="button"
        class="btn plain flush"
        onClick={() => {
          open.value = true
        }}
      >
        Change hours
      </button>
    </>
  )
}
