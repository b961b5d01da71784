/** The window: side bar and one page. A page change moves the focus to its heading and tells it in the title. */
import type { JSX } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { HomePage } from './pages/home.tsx'
import { HostPage } from './pages/host/host.tsx'
import { JobPage } from './pages/job.tsx'
import { JoinPage } from './pages/join.tsx'
import { LimitsPage } from './pages/limits.tsx'
import { TroublePage } from './pages/trouble.tsx'
import { SideBar } from './parts/side-bar.tsx'
import { desktop, page } from './state.ts'
import type { PageName } from './state.ts'

const shown: Readonly<Record<PageName, () => JSX.Element>> = {
  home: HomePage,
  job: JobPage,
  join: JoinPage,
  host: HostPage,
  limits: LimitsPage,
  trouble: TroublePage,
}

const titles: Readonly<Record<PageName, string>> = {
  home: 'Home',
  job: 'Job',
  join: 'Join',
  host: 'Host',
  limits: 'Limits',
  trouble: 'Trouble',
}

let opened = false

function useFocusOnHeading(name: PageName): void {
  useLayoutEffect(() => {
    document.title = `${titles[name]} · Rookery`
    document.querySelector('.page')?.scrollTo(0, 0)
    // Not at the first start: there the page's own first field may have the focus.
    if (opened && !document.querySelector('.page')?.contains(document.activeElement))
      document.getElementById('title')?.focus()
    opened = true
  }, [name])
}

function useTheme(theme: string): void {
  useLayoutEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
  }, [theme])
}

export function App(): JSX.Element {
  const Page = shown[page.value]
  useTheme(desktop.value?.theme ?? 'system')
  useFocusOnHeading(page.value)
  return (
    <div class="frame">
      <SideBar />
      <main class="page">
        <div class="inner">
          <Page key={page.value} />
        </div>
      </main>
    </div>
  )
}
