/** The routes of the panel. Pages other than the first ones are loaded when they are needed. */

import { type ComponentType, lazy, Suspense, useState } from 'react'
import { matchPath, Navigate, Route, Routes, useLocation, useParams } from 'react-router'
import { ApiFailure } from './api/failure.ts'
import { useSession, useViewed } from './api/queries.ts'
import { signOut, startSession } from './api/session.ts'
import { useT } from './i18n/language.tsx'
import { Shell } from './layout/shell.tsx'
import { DashboardPage } from './pages/dashboard/dashboard.tsx'
import { LoginPage } from './pages/login/login.tsx'
import { Button, ButtonLink } from './ui/button.tsx'
import { Page } from './ui/page.tsx'
import { Empty, Failed, Loading } from './ui/states.tsx'

/** The page for unknown addresses below /dashboard. */
function MissingPage() {
  const t = useT()
  return (
    <Page title={t('missing.title')} narrow>
      <Empty
        icon="search"
        title={t('missing.text')}
        action={<ButtonLink to="/dashboard">{t('nav.dashboard')}</ButtonLink>}
      />
    </Page>
  )
}

type Load = () => Promise<unknown>

/** How the page of an address is loaded. */
const loads: (readonly [address: string, load: Load])[] = []

/** A page that is loaded when it is needed, and drawn at once when it is there already. */
function lazyPage<Name extends string>(
  address: string,
  name: Name,
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
) {
  let loaded: ComponentType | undefined
  const begin = async () => {
    loaded = (await load())[name]
    return { default: loaded }
  }
  loads.push([address, begin])
  const Waited = lazy(begin)
  return function LazyPage() {
    // React shows a lazy page 300 ms after its placeholder at the earliest. A page that has come meanwhile needs neither.
    const [Shown] = useState(() => loaded ?? Waited)
    // Another record begins another page: what was typed or found for one would pass for that of the other.
    return <Shown key={Object.values(useParams()).join('/')} />
  }
}

/** Begins to load the page of an address: it comes while the service still says who is signed in. */
export function loadPageOf(pathname: string): void {
  const found = loads.find(([address]) => matchPath(address, pathname))
  // The page asks again when it is shown, and says what went wrong.
  found?.[1]().catch(() => undefined)
}

const CredentialsPage = lazyPage(
  '/dashboard/accounts',
  'CredentialsPage',
  () => import('./pages/credentials/credentials.tsx'),
)
const CredentialPage = lazyPage(
  '/dashboard/accounts/:id',
  'CredentialPage',
  () => import('./pages/credential/credential.tsx'),
)
const LinkPage = lazyPage('/dashboard/link', 'LinkPage', () => import('./pages/linking/link.tsx'))
const LinkSessionPage = lazyPage(
  '/dashboard/link/:platform/:session',
  'LinkSessionPage',
  () => import('./pages/linking/session.tsx'),
)
const KeysPage = lazyPage('/dashboard/keys', 'KeysPage', () => import('./pages/keys/keys.tsx'))
const KeyPage = lazyPage('/dashboard/keys/:id', 'KeyPage', () => import('./pages/key/key.tsx'))
const TryPage = lazyPage(
  '/dashboard/keys/:id/try',
  'TryPage',
  () => import('./pages/explorer/try.tsx'),
)
const DiagnosisPage = lazyPage(
  '/dashboard/keys/:id/diagnosis',
  'DiagnosisPage',
  () => import('./pages/diagnosis/diagnosis.tsx'),
)
const AccountDiagnosisPage = lazyPage(
  '/dashboard/accounts/:id/diagnosis',
  'AccountDiagnosisPage',
  () => import('./pages/diagnosis/of-account.tsx'),
)
const AlertsPage = lazyPage(
  '/dashboard/alerts',
  'AlertsPage',
  () => import('./pages/alerts/alerts.tsx'),
)
const UsersPage = lazyPage('/dashboard/users', 'UsersPage', () => import('./pages/users/users.tsx'))
const NodesPage = lazyPage('/dashboard/nodes', 'NodesPage', () => import('./pages/nodes/nodes.tsx'))
const DemoPage = lazyPage('/dashboard/demo', 'DemoPage', () => import('./pages/demo/demo.tsx'))
const SandboxPage = lazyPage(
  '/dashboard/sandbox',
  'SandboxPage',
  () => import('./pages/sandbox/sandbox.tsx'),
)
const AccountPage = lazyPage(
  '/dashboard/account',
  'AccountPage',
  () => import('./pages/account/account.tsx'),
)
const AuditPage = lazyPage(
  '/dashboard/account/audit',
  'AuditPage',
  () => import('./pages/audit/audit.tsx'),
)
const InvitationPage = lazyPage(
  '/link/:token',
  'InvitationPage',
  () => import('./pages/invitation/invitation.tsx'),
)

export function App() {
  return (
    <Suspense fallback={<Waiting />}>
      <Routes>
        <Route path="/login" element={<LoginPage />} />
        <Route path="/link/:token" element={<InvitationPage />} />
        <Route path="/dashboard" element={<SignedIn />}>
          <Route index element={<DashboardPage />} />
          <Route path="accounts" element={<CredentialsPage />} />
          <Route path="accounts/:id" element={<CredentialPage />} />
          <Route path="accounts/:id/diagnosis" element={<AccountDiagnosisPage />} />
          <Route path="link" element={<LinkPage />} />
          <Route path="link/:platform/:session" element={<LinkSessionPage />} />
          <Route path="keys" element={<KeysPage />} />
          <Route path="keys/:id" element={<KeyPage />} />
          <Route path="keys/:id/try" element={<TryPage />} />
          <Route path="keys/:id/diagnosis" element={<DiagnosisPage />} />
          <Route path="alerts" element={<AlertsPage />} />
          <Route path="nodes" element={<NodesPage />} />
          <Route path="users" element={<UsersPage />} />
          <Route path="demo" element={<DemoPage />} />
          <Route path="sandbox" element={<SandboxPage />} />
          <Route path="account" element={<AccountPage />} />
          <Route path="account/audit" element={<AuditPage />} />
          <Route path="*" element={<MissingPage />} />
        </Route>
        <Route path="*" element={<Navigate to="/dashboard" replace />} />
      </Routes>
    </Suspense>
  )
}

const Waiting = () => (
  <div className="page">
    <Loading />
  </div>
)

/** Pages that need a sign-in: others go to /login and return here afterwards. */
function SignedIn() {
  const session = useSession()
  const viewed = useViewed()
  const { pathname, search } = useLocation()
  const t = useT()
  switch (session.state) {
    case 'starting':
      return <Waiting />
    case 'unreachable':
      return (
        <main className="alone">
          <h1 className="unseen">{t('failure.title')}</h1>
          <Failed cause={new ApiFailure(0, '')} retry={startSession} />
        </main>
      )
    case 'refused':
      return (
        <main className="alone">
          <h1 className="unseen">{t('failure.title')}</h1>
          <Failed cause={session.cause} retry={startSession} />
          <Button kind="bare" icon="out" onClick={signOut}>
            {t('signOut')}
          </Button>
        </main>
      )
    case 'out':
      return <Navigate to={`/login?next=${encodeURIComponent(pathname + search)}`} replace />
    case 'in':
      return (
        <Shell
          key={`${session.user.user_id} ${viewed?.user_id}`}
          user={session.user}
          viewed={viewed}
        />
      )
  }
}
