/** The routes of the panel. Pages other than the first ones are loaded when they are needed. */

import { type ComponentType, lazy, Suspense } from 'react'
import { Navigate, Route, Routes, useLocation } from 'react-router'
import { ApiFailure } from './api/failure.ts'
import { startSession, useSession } from './api/session.ts'
import { useT } from './i18n/language.tsx'
import { Shell } from './layout/shell.tsx'
import { DashboardPage } from './pages/dashboard/dashboard.tsx'
import { LoginPage } from './pages/login/login.tsx'
import { ButtonLink } from './ui/button.tsx'
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

const late = <Name extends string>(
  name: Name,
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
) => lazy(async () => ({ default: (await load())[name] }))

const CredentialsPage = late('CredentialsPage', () => import('./pages/credentials/credentials.tsx'))
const CredentialPage = late('CredentialPage', () => import('./pages/credential/credential.tsx'))
const LinkPage = late('LinkPage', () => import('./pages/linking/link.tsx'))
const LinkSessionPage = late('LinkSessionPage', () => import('./pages/linking/session.tsx'))
const KeysPage = late('KeysPage', () => import('./pages/keys/keys.tsx'))
const KeyPage = late('KeyPage', () => import('./pages/key/key.tsx'))
const TryPage = late('TryPage', () => import('./pages/explorer/try.tsx'))
const DiagnosisPage = late('DiagnosisPage', () => import('./pages/diagnosis/diagnosis.tsx'))
const AccountDiagnosisPage = late(
  'AccountDiagnosisPage',
  () => import('./pages/diagnosis/of-account.tsx'),
)
const AlertsPage = late('AlertsPage', () => import('./pages/alerts/alerts.tsx'))
const NodesPage = late('NodesPage', () => import('./pages/nodes/nodes.tsx'))
const DemoPage = late('DemoPage', () => import('./pages/demo/demo.tsx'))
const SandboxPage = late('SandboxPage', () => import('./pages/sandbox/sandbox.tsx'))
const AccountPage = late('AccountPage', () => import('./pages/account/account.tsx'))
const InvitationPage = late('InvitationPage', () => import('./pages/invitation/invitation.tsx'))

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
          <Route path="demo" element={<DemoPage />} />
          <Route path="sandbox" element={<SandboxPage />} />
          <Route path="account" element={<AccountPage />} />
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
    case 'out':
      return <Navigate to={`/login?next=${encodeURIComponent(pathname + search)}`} replace />
    case 'in':
      return <Shell key={session.user.user_id} user={session.user} />
  }
}
