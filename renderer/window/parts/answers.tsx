/** What a model says to one or more samples. */
import type { JSX } from 'preact'
import type { Answer } from '../../../shared/messages/cards.ts'
import { few, percent } from '../words/numbers.ts'

const shown = 20
const valuesShown = 10

function Said({ answer }: { readonly answer: Answer }): JSX.Element {
  if (answer.continuation !== undefined)
    return (
      <p class="continuation mono">
        <span class="soft">{answer.sample}</span>
        {answer.continuation}
      </p>
    )
  if (answer.best !== undefined)
    return (
      <p>
        <span class="soft">{answer.sample}: </span>
        {answer.best.map(({ label, probability }, index) => (
          <span key={label}>
            {index === 0 ? <b>{label}</b> : label} <span class="soft">{percent(probability)}</span>
            {index + 1 < (answer.best?.length ?? 0) ? ', ' : ''}
          </span>
        ))}
      </p>
    )
  const values = answer.values ?? []
  return (
    <p>
      <span class="soft">{answer.sample}: </span>
      {values.slice(0, valuesShown).map(few).join(', ')}
      {values.length > valuesShown ? `, and ${values.length - valuesShown} more` : ''}
    </p>
  )
}

export function Answers({ answers }: { readonly answers: readonly Answer[] }): JSX.Element {
  return (
    <div class="stack-2">
      {answers.slice(0, shown).map((answer, index) => (
        <Said key={index} answer={answer} />
      ))}
      {answers.length > shown ? <p class="soft">And {answers.length - shown} more.</p> : null}
    </div>
  )
}
