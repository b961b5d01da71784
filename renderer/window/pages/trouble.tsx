/** Trouble: checks with one finding each, and tools with what each takes or removes. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import type { Outcome } from '../../../shared/messages/ipc.ts'
import { useAsk } from '../ask.ts'
import { AgentStopped } from '../parts/agent-stopped.tsx'
import { Card, Fault, PageHead } from '../parts/blocks.tsx'
import { Button, ConfirmButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { desktop, snapshot } from '../state.ts'
import { checksInWords, checksOf } from '../words/checks.ts'
import type { Check } from '../words/checks.ts'

const icons = { ok: 'ok', warn: 'warn', bad: 'bad' } as const

function Checks({ checks }: { readonly checks: readonly Check[] }): JSX.Element {
  return (
    <Card title="Checks">
      <ul class="checks">
        {checks.map(({ level, name, finding }) => (
          <li key={name} class={level}>
            <Icon name={icons[level]} />
            <div>
              <b>{name}</b>
              <span class="visually-hidden">{level === 'ok' ? ' (fine)' : ' (needs a look)'}</span>
              <div class="soft">{finding}</div>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface ToolProps {
  readonly name: string
  readonly takes: string
  readonly done: string
  readonly call: () => Promise<Outcome<unknown> | null>
  readonly children: (press: () => void, busy: boolean) => ComponentChildren
}

/** One tool: its button, and beside it how it went. `null` from the call: the person closed the dialog. */
function Tool({ name, takes, done, call, children }: ToolProps): JSX.Element {
  const asker = useAsk()
  const said = useSignal('')
  const press = () => {
    said.value = ''
    void asker
      .ask(async () => (await call()) ?? { ok: true as const, output: undefined })
      .then((output) => {
        if (output !== undefined) said.value = done
      })
  }
  return (
    <li>
      <div>
        <b>{name}</b>
        <div class="soft">{takes}</div>
        <p role="status" class="small">
          {said.value}
        </p>
        <Fault of={asker} />
      </div>
      {children(press, asker.busy.value)}
    </li>
  )
}

/** Ask where, then do; null when the dialog was closed. */
async function withPath<T>(
  where: Promise<Outcome<{ path: string | null }>>,
  call: (path: string) => Promise<Outcome<T>>,
): Promise<Outcome<T> | null> {
  const chosen = await where
  if (!chosen.ok) return chosen
  return chosen.output.path === null ? null : call(chosen.output.path)
}

const plainButton = (words: string, label: string) =>
  function Press(press: () => void, busy: boolean): JSX.Element {
    return (
      <Button onPress={press} busy={busy} label={label}>
        {words}
      </Button>
    )
  }

function IdentityTools(): JSX.Element {
  const { rookery } = window
  const keyEnd = snapshot.value?.self.slice(-8) ?? 'what the agent will say'
  return (
    <>
      <Tool
        name="Identity"
        takes={`The key that says you are you; it ends in ${keyEnd}. Without a backup, a new PC has to be invited again.`}
        done="Saved. Whoever has this file can pass for this PC: keep it safe."
        call={() =>
          withPath(rookery.saveAs({ suggested: 'rookery-identity.key' }), (to) =>
            rookery.backupIdentity({ to }),
          )
        }
      >
        {plainButton('Back up…', 'Back up… identity')}
      </Tool>
      <Tool
        name="Restore identity"
        takes="Replaces this PC’s key by one from a backup."
        done="Restored. It holds from the agent’s next start."
        call={() =>
          withPath(rookery.chooseFile({ kind: 'identity' }), (from) => rookery.restoreIdentity({ from }))
        }
      >
        {(press, busy) => (
          <ConfirmButton
            ask="Restore…"
            question="The key that this PC has now is replaced. Back it up first if you want it back."
            deed="Choose a backup"
            busy={busy}
            onConfirm={press}
          />
        )}
      </Tool>
    </>
  )
}

function ResetTool(): JSX.Element {
  return (
    <Tool
      name="Reset Rookery"
      takes="Forgets benchmarks, fetched data, known PCs and the job it is in. Identity, settings and models stay."
      done="Done. It holds from the agent’s next start."
      call={() => window.rookery.reset({})}
    >
      {(press, busy) => (
        <ConfirmButton
          ask="Reset…"
          question="Benchmarks are measured again and data is fetched again. Nothing else is lost."
          deed="Reset Rookery"
          busy={busy}
          onConfirm={press}
        />
      )}
    </Tool>
  )
}

function Tools(): JSX.Element {
  const { rookery } = window
  return (
    <Card title="Tools">
      <ul class="tools">
        <Tool
          name="Diagnostics file"
          takes="Versions, settings and the log, for a bug report. Keys, invites and addresses are left out."
          done="Saved. Look into it before you send it."
          call={() =>
            withPath(rookery.saveAs({ suggested: 'rookery-diagnostics.zip' }), (to) =>
              rookery.diagnostics({ to }),
            )
          }
        >
          {plainButton('Save…', 'Save… diagnostics file')}
        </Tool>
        <Tool
          name="Logs"
          takes="What the agent wrote while it ran."
          done="Opened."
          call={() => rookery.openLogs({})}
        >
          {plainButton('Open folder', 'Open folder of logs')}
        </Tool>
        <IdentityTools />
        <ResetTool />
      </ul>
    </Card>
  )
}

export function TroublePage(): JSX.Element {
  const checks = checksOf(snapshot.value, desktop.value)
  return (
    <>
      <PageHead title="Trouble" lead={checksInWords(checks)} />
      <AgentStopped />
      <div class="cols even">
        <Checks checks={checks} />
        <Tools />
      </div>
    </>
  )
}
