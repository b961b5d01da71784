/** The invite of a host: QR code, link, and a text to send. */
import { useSignal } from '@preact/signals'
import qrcode from 'qrcode-generator'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { useAsk } from '../ask.ts'
import { qrPath } from '../words/qr-path.ts'
import { shareText } from '../words/host-draft.ts'
import { Card, Fault } from './blocks.tsx'
import { Button } from './button.tsx'

/** What a QR code of the largest kind holds at its lowest correction. */
const mostCharacters = 2900

function drawQr(link: string): { size: number; path: string } | undefined {
  if (link.length > mostCharacters) return undefined
  const code = qrcode(0, 'L')
  code.addData(link, 'Byte')
  code.make()
  const size = code.getModuleCount()
  return { size, path: qrPath(size, (row, column) => code.isDark(row, column)) }
}

function QrCode({ link }: { readonly link: string }): JSX.Element {
  const qr = useMemo(() => drawQr(link), [link])
  if (qr === undefined) return <p class="soft">The link is too long for a QR code. Send the link instead.</p>
  return (
    <div class="qr">
      <svg viewBox={`0 0 ${qr.size} ${qr.size}`} role="img" aria-label="QR code of the invite link">
        <path d={qr.path} />
      </svg>
    </div>
  )
}

export function InviteCard({
  name,
  invite,
  self,
}: {
  readonly name: string
  readonly invite: string
  /** This PC: friends compare the end of its key with what their card shows. */
  readonly self: string
}): JSX.Element {
  const asker = useAsk()
  const copied = useSignal('')
  const copy = async (text: string, what: string) => {
    const done = await asker.ask(() => window.rookery.copyText({ text }))
    if (done !== undefined) copied.value = `${what} copied.`
  }
  const save = async () => {
    const saved = await asker.ask(() => window.rookery.saveInvite({ job: name, invite }))
    if (saved?.path != null) copied.value = `Saved in ${saved.path}.`
  }
  return (
    <Card title="Invite">
      <div class="stack">
        <QrCode link={invite} />
        <div class="field">
          <label for="invite-link">Link</label>
          <input
            class="input mono"
            id="invite-link"
            readOnly
            value={invite}
            onFocus={(event) => {
              event.currentTarget.select()
            }}
          />
        </div>
        <div class="actions">
          <Button onPress={() => copy(invite, 'Link')}>Copy link</Button>
          <Button onPress={() => copy(shareText(name, invite), 'Text')}>Copy share text</Button>
          <Button busy={asker.busy.value} onPress={() => asker.ask(() => window.rookery.invite({}))}>
            New link
          </Button>
          <Button busy={asker.busy.value} onPress={save}>
            Save as file…
          </Button>
        </div>
        <p class="small soft" role="status">
          {copied.value === ''
            ? 'Whoever has the link can join until it ends; you can remove a PC at any time.'
            : copied.value}
        </p>
        <p class="small soft">
          Your key ends in <span class="mono">{self.slice(-8)}</span>: a friend who doubts compares it with
          the card.
        </p>
        <Fault of={asker} />
      </div>
    </Card>
  )
}
