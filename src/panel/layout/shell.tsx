/** The frame around every page of a signed-in user. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { NavLink, Outlet, useLocation } from 'react-router'
import { userQuery } from '../api/queries.ts'
import { signOut } from '../api/session.ts'
import type { User } from '../api/types.ts'
import type { Viewed } from '../api/viewing.ts'
import { About } from '../help/about.tsx'
import type { MessageKey } from '../i18n/en.ts'
import { useT } from '../i18n/language.tsx'
import { Live } from '../live/live.tsx'
import { useShortcuts } from '../palette/shortcuts.ts'
import { Button } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { Boundary, Loading } from '../ui/states.tsx'
import { Brand } from './brand.tsx'
import { Preferences } from './preferences.tsx'
import { Viewing } from './viewing.tsx'

const places: readonly (readonly [to: string, icon: IconName, title: MessageKey])[] = [
  ['/dashboard', 'home', 'nav.dashboard'],
  ['/dashboard/accounts', 'accounts', 'nav.accounts'],
  ['/dashboard/keys', 'key', 'nav.keys'],
  ['/dashboard/alerts', 'bell', 'nav.alerts'],
  ['/dashboard/sandbox', 'flask', 'nav.sandbox'],
  ['/dashboard/account', 'sliders', 'nav.account'],
]

const loadPalette = () => import('../palette/palette.tsx')
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }))
const Shortcuts = lazy(async () => ({ default: (await loadPalette()).Shortcuts }))

/** Dialogs that keyboard shortcuts open over any page. */
function useOverlay() {
  const [opened, setOpened] = useState<'palette' | 'help'>()
  const close = useCallback(() => setOpened(undefined), [])
  useShortcuts(setOpened)
  const overlay = opened && (
    <Suspense>
      {opened === 'palette' ? <Palette close={close} /> : <Shortcuts close={close} />}
    </Suspense>
  )
  return { overlay, open: setOpened }
}

/** Makes no entry of the history, which Back would have to go through. */
function skipping(link: HTMLAnchorElement | null) {
  link?.addEventListener('click', (event) => {
    event.preventDefault()
    document.getElementById('content')?.focus()
  })
}

interface ShellProps {
  readonly user: User
  /** Whose records are shown, where they are not one's own. */
  readonly viewed: Viewed | undefined
}

export function Shell({ user, viewed }: ShellProps) {
  const t = useT()
  const [isOpen, setOpen] = useState(false)
  const { pathname } = useLocation()
  const { overlay, open } = useOverlay()
  const close = () => setOpen(false)
  useEffect(() => {
    if (!isOpen) return
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') setOpen(false)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [isOpen])
  return (
    <Live>
      <a ref={skipping} className="button first skip" href="#content">
        {t('skip')}
      </a>
      <div className="shell">
        <header className="top">
          <Brand to="/dashboard" />
          <Button
            kind="bare"
            icon={isOpen ? 'cross' : 'menu'}
            aria-label={t('menu')}
            aria-expanded={isOpen}
            aria-controls="places"
            onClick={() => setOpen(!isOpen)}
          />
        </header>
        <aside id="places" aria-label={t('menu')} className={isOpen ? 'side open' : 'side'}>
          <Brand to="/dashboard" />
          <div className="finder">
            <Button icon="search" onClick={() => open('palette')}>
              <span className="grow">{t('palette.title')}</span>
              <kbd>Ctrl K</kbd>
            </Button>
          </div>
          <Places viewed={viewed} close={close} />
          <div className="foot stack tight">
            <Preferences />
            <SignOut user={user} />
            <About />
          </div>
        </aside>
        <main id="content" tabIndex={-1}>
          {viewed && <Viewing viewed={viewed} />}
          <Boundary address={pathname}>
            <Suspense fallback={<PageLoading />}>
              <Outlet />
            </Suspense>
          </Boundary>
        </main>
      </div>
      {overlay}
    </Live>
  )
}

/** Only for those who run the service or help its users. */
const ofRoles = {
  operator: [
    ['/dashboard/users', 'accounts', 'nav.users'],
    ['/dashboard/nodes', 'nodes', 'nav.nodes'],
  ],
  support: [['/dashboard/users', 'accounts', 'nav.users']],
} as const

/** What is only of whoever is signed in. */
const ownPlaces = new Set(['/dashboard/sandbox', '/dashboard/account'])

interface PlacesProps extends Pick<ShellProps, 'viewed'> {
  close(): void
}

function Places({ viewed, close }: PlacesProps) {
  const t = useT()
  const role = useQuery(userQuery).data?.role
  const all = [...places, ...(role ? ofRoles[role] : [])]
  const shown = viewed ? all.filter(([to]) => !ownPlaces.has(to)) : all
  return (
    <nav className="nav" aria-label={t('nav')}>
      <ul>
        {shown.map(([to, icon, title]) => (
          <li key={to}>
            <NavLink to={to} end={to === '/dashboard'} onClick={close}>
              <Icon name={icon} />
              {t(title)}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const PageLoading = () => (
  <div className="page">
    <Loading lines={5} />
  </div>
)

function SignOut({ user }: { readonly user: User }) {
  const t = useT()
  const leaving = useMutation({ mutationFn: signOut })
  return (
    <Button kind="bare" icon="out" busy={leaving.isPending} onClick={() => leaving.mutate()}>
      <span className="grow" style={{ textAlign: 'start' }}>
        {t('signOut')}
        <span className="quiet tiny block">
          <span className="ltr">{user.phone}</span>
        </span>
      </span>
    </Button>
  )
}
