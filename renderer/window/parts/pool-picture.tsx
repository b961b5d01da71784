/** The pool as a picture: stages in columns over the model's layers, clusters in rows, rings between them. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { fit } from '../words/fit.ts'
import { poolInWords } from '../words/pool-in-words.ts'
import { layPool } from '../words/pool-layout.ts'
import type { ClusterRow, PoolView, StageBox } from '../words/pool-layout.ts'
import type { RingMark } from '../words/pool-rings.ts'

const pad = 12
const youWidth = 34
/** Names are 13 units high and bold: as wide as 14.5 of the other texts. */
const boldSize = 14.5

/** The status in as many words as fit; a word cut in the middle would only be noise. */
function wordsOf({ status, short }: StageBox, room: number): string {
  return [status, short].find((words) => fit(words, room, 12) === words) ?? ''
}

function Status({ stage, y }: { readonly stage: StageBox; readonly y: number }): JSX.Element | null {
  if (stage.status === '') return null
  const x = stage.x + Math.min(pad, stage.width / 8)
  const marked = stage.tone === 'lost' || stage.tone === 'slow'
  const room = stage.width - 2 * (x - stage.x) - (marked ? 14 : 0)
  const words = wordsOf(stage, room)
  if (stage.tone === 'lost')
    return (
      <>
        <path class="gone-x" d={`M${x} ${y - 8} l7 7 m0 -7 l-7 7`} />
        <text class="gone" x={x + 14} y={y}>
          {words}
        </text>
      </>
    )
  if (stage.tone === 'slow')
    return (
      <>
        <path
          class="slow-line"
          d={`M${x} ${y - 9} h8 M${x} ${y} h8 M${x + 1} ${y - 9} l6 9 M${x + 7} ${y - 9} l-6 9`}
        />
        <text class="slow" x={x + 14} y={y}>
          {words}
        </text>
      </>
    )
  return (
    <text class={stage.tone === 'waits' ? 'slow' : 'sub'} x={x} y={y}>
      {words}
    </text>
  )
}

function Stage({ stage }: { readonly stage: StageBox }): JSX.Element {
  const { x, y, width, height, narrow } = stage
  const inset = Math.min(pad, width / 8)
  const badge = stage.me && width > 90
  const classes = ['stage', ...(stage.me ? ['me'] : []), ...(stage.tone === 'lost' ? ['lost'] : [])].join(' ')
  return (
    <g>
      <title>{[stage.name, stage.layers, stage.status].filter((part) => part !== '').join(', ')}</title>
      <rect class={classes} x={x} y={y} width={width} height={height} rx="6" />
      <text class="name" x={x + inset} y={y + 20}>
        {fit(stage.name, width - 2 * inset - (badge ? youWidth + 8 : 0), boldSize)}
      </text>
      {badge ? (
        <>
          <rect
            class="you-bg"
            x={x + width - youWidth - 10}
            y={y + 8}
            width={youWidth}
            height="17"
            rx="8.5"
          />
          <text class="you" x={x + width - youWidth / 2 - 10} y={y + 20.5} text-anchor="middle">
            you
          </text>
        </>
      ) : null}
      {narrow ? null : (
        <text class="sub" x={x + inset} y={y + 36}>
          {fit(stage.layers, width - 2 * inset, 12)}
        </text>
      )}
      <Status stage={stage} y={narrow ? y + 36 : y + 52} />
    </g>
  )
}

function Cluster({ row }: { readonly row: ClusterRow }): JSX.Element {
  return (
    <g>
      <text class="name" x="0" y={row.y + 20}>
        {row.name}
      </text>
      <text class="sub" x="0" y={row.y + 36}>
        {row.pace}
      </text>
      {row.pace === 'rests' ? null : (
        <text class="sub" x="0" y={row.y + 52}>
          samples/s
        </text>
      )}
      {row.stages.map((stage, index) => {
        const next = row.stages[index + 1]
        const from = stage.x + stage.width
        const middle = stage.y + stage.height / 2
        return (
          <g key={stage.peer}>
            <Stage stage={stage} />
            {next === undefined ? null : (
              <>
                <path class="flow" d={`M${from} ${middle} H${next.x}`} />
                <path class="flow" d={`M${(from + next.x) / 2 - 1} ${middle - 4} l4 4 l-4 4`} />
              </>
            )}
          </g>
        )
      })}
    </g>
  )
}

function Ring({ ring }: { readonly ring: RingMark }): JSX.Element {
  const middle = (ring.from + ring.to) / 2
  const tone = ring.broken ? ' broken' : ring.mine ? ' mine' : ''
  const side = (x: number) => `M${x} ${ring.from + 1} V${middle - 9} M${x} ${middle + 9} V${ring.to - 1}`
  return (
    <g>
      <path class={`ring${tone}`} d={`${side(ring.x - 7)} ${side(ring.x + 7)}`} />
      <rect
        class={`ring-pill${tone}`}
        x={ring.x - ring.pillWidth / 2}
        y={middle - 9}
        width={ring.pillWidth}
        height="18"
        rx="9"
      />
      <text class="ring-text" x={ring.x} y={middle + 4} text-anchor="middle">
        {ring.label}
      </text>
      {ring.broken && ring.pillWidth > 40 ? (
        <text class="gone ring-text" x={ring.x + ring.pillWidth / 2 + 6} y={middle + 4}>
          waits
        </text>
      ) : null}
    </g>
  )
}

export function PoolPicture({ view }: { readonly view: PoolView }): JSX.Element {
  const picture = layPool(view)
  const scroller = useRef<HTMLDivElement>(null)
  // Reachable by keyboard only while there is something to scroll.
  useEffect(() => {
    const box = scroller.current
    if (box === null) return undefined
    const watcher = new ResizeObserver(() => {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
      else box.removeAttribute('tabindex')
    })
    watcher.observe(box)
    return () => {
      watcher.disconnect()
    }
  }, [])
  return (
    <div class="scroll-x" role="group" aria-label="Picture of the pool" ref={scroller}>
      <svg
        class="pool"
        viewBox={`0 0 ${picture.width} ${picture.height}`}
        role="img"
        aria-label={poolInWords(view)}
      >
        <text x="0" y="12">
          Layers
        </text>
        {picture.layerLabels.map(({ x, text }) => (
          <text key={text} x={x} y="12" text-anchor="middle">
            {text}
          </text>
        ))}
        {picture.rings.map((ring, index) => (
          <Ring key={index} ring={ring} />
        ))}
        {picture.clusters.map((row) => (
          <Cluster key={row.name} row={row} />
        ))}
      </svg>
    </div>
  )
}
