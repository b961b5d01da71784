/** The icons of the window: 18 units, one stroke, the colour of the text beside them. */
import type { ComponentChildren, JSX } from 'preact'

const drawings = {
  home: <path d="M3 8.2 9 3l6 5.2M4.8 7v8h8.4V7M7.6 15v-4.2h2.8V15" />,
  job: <path d="M2.6 2.6v12.8h12.8M5 5.4c1.4 4.6 3.4 6.4 10 7" />,
  join: (
    <path d="M7.4 10.6 10.6 7.4M8 5.6l1.7-1.7a3.2 3.2 0 0 1 4.5 4.5L12.4 10M10 12.4l-1.7 1.7a3.2 3.2 0 0 1-4.5-4.5L5.6 8" />
  ),
  host: (
    <>
      <circle cx="9" cy="4.2" r="1.8" />
      <circle cx="3.8" cy="13.4" r="1.8" />
      <circle cx="14.2" cy="13.4" r="1.8" />
      <path d="M8 5.8 4.7 11.7M10 5.8l3.3 5.9M5.8 13.4h6.4" />
    </>
  ),
  limits: (
    <>
      <path d="M2.6 5.4h6M12.6 5.4h2.8M2.6 12.6h2.8M9.4 12.6h6" />
      <circle cx="10.6" cy="5.4" r="2" />
      <circle cx="7.4" cy="12.6" r="2" />
    </>
  ),
  trouble: (
    <>
      <circle cx="9" cy="9" r="6.4" />
      <circle cx="9" cy="9" r="2.6" />
      <path d="m4.5 4.5 2.6 2.6M13.5 4.5l-2.6 2.6M4.5 13.5l2.6-2.6M13.5 13.5l-2.6-2.6" />
    </>
  ),
  training: (
    <>
      <circle cx="9" cy="9" r="6.6" />
      <path d="M7.3 6.2v5.6L12 9z" fill="currentColor" />
    </>
  ),
  paused: (
    <>
      <circle cx="9" cy="9" r="6.6" />
      <path d="M7.2 6.4v5.2M10.8 6.4v5.2" />
    </>
  ),
  idle: <circle cx="9" cy="9" r="6.6" stroke-dasharray="2.6 2.4" />,
  pause: <path d="M6 4v10M12 4v10" stroke-width="2.4" />,
  play: <path d="M5.5 3.5v11L14 9z" fill="currentColor" />,
  warn: (
    <>
      <path d="M9 2.6 16 15H2z" />
      <path d="M9 7.2v3.6M9 12.6v.6" />
    </>
  ),
  bad: (
    <>
      <path d="M6 2.4h6L15.6 6v6L12 15.6H6L2.4 12V6z" />
      <path d="M6.6 6.6l4.8 4.8M11.4 6.6l-4.8 4.8" />
    </>
  ),
  ok: <path d="m3.4 9.4 3.8 3.8 7.4-8" />,
  no: <path d="m4.4 4.4 9.2 9.2M13.6 4.4l-9.2 9.2" />,
  wait: <path d="M5 2.6h8M5 15.4h8M5.8 2.6v2.8L9 9l-3.2 3.6v2.8M12.2 2.6v2.8L9 9l3.2 3.6v2.8" />,
  ring: (
    <>
      <path d="M14.6 7A6 6 0 0 0 4 5.6M3.4 11A6 6 0 0 0 14 12.4" />
      <path d="M4 2.6v3h3M14 15.4v-3h-3" />
    </>
  ),
  save: <path d="M9 2.6v8M5.8 7.6 9 10.8l3.2-3.2M3 13v2.4h12V13" />,
  person: (
    <>
      <circle cx="9" cy="6" r="2.8" />
      <path d="M3.4 15c.6-3 2.8-4.4 5.6-4.4s5 1.4 5.6 4.4" />
    </>
  ),
  battery: (
    <>
      <rect x="2" y="5.4" width="12" height="7.2" rx="1.6" />
      <path d="M16 8v2M4.6 8v2M7.2 8v2" />
    </>
  ),
  force: <path d="M2.4 9h9M15 3.6v10.8M8.6 6l3 3-3 3" />,
  info: (
    <>
      <circle cx="9" cy="9" r="6.6" />
      <path d="M9 8.2v4.2M9 5.4v.6" />
    </>
  ),
} satisfies Record<string, ComponentChildren>

export type IconName = keyof typeof drawings

/** Decoration only: the word beside it says the same. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 18 18" aria-hidden="true">
      <g fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">
        {drawings[name]}
      </g>
    </svg>
  )
}

export function Logo(): JSX.Element {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path
        class="logo-bird"
        fill-rule="evenodd"
        d="M5.5 15.6 C9.6 14.6 12.6 12.4 14.2 8.8 C15.6 5.6 18 4 20.8 4.2 C23.4 4.4 25.2 6 25.6 8.2 L31 10.9 L25.4 12.7 C24.8 17.6 21.2 21 16.2 21 C11.4 21 8 19 5.5 15.6 Z M21.4 7.4 a1.2 1.2 0 1 0 .01 0 Z"
      />
      <path
        class="logo-nest"
        d="M2.6 19.4 C5.5 24.6 12 27.6 23.4 28.6 M29.4 19.4 C26.5 24.6 20 27.6 8.6 28.6"
      />
    </svg>
  )
}
