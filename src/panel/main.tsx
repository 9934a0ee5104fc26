/** Starts the panel in the page. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { ApiFailure } from './api/failure.ts'
import { currentSession, onSession } from './api/session.ts'
import { onViewing, view, viewedUser } from './api/viewing.ts'
import { App, loadPageOf } from './app.tsx'
import { LanguageProvider } from './i18n/language.tsx'
import { startDensity, startTheme } from './layout/preferences.tsx'
import { forgetDrafts } from './pages/sandbox/drafts.ts'
import { Toasts } from './ui/toasts.tsx'
import { startStaying } from './ui/use-in-address.ts'

const MOST_TRIES = 2

/** The longest wait in seconds after a refused change that is tried again without telling the user. */
const LONGEST_WAIT = 2

const waitOf = (cause: unknown) =>
  (cause instanceof ApiFailure && cause.status === 429 ? cause.retryAfter : undefined) ??
  Number.POSITIVE_INFINITY

const mayPass = (cause: unknown) =>
  cause instanceof ApiFailure && (cause.status === 0 || cause.status >= 500)

const queries = new QueryClient({
  defaultOptions: {
    // A browser that thinks it is offline fails like any other: by default its requests would wait without a word.
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (tries, cause) => tries < MOST_TRIES && mayPass(cause),
    },
    mutations: {
      networkMode: 'always',
      retry: (tries, cause) => tries < MOST_TRIES && waitOf(cause) <= LONGEST_WAIT,
      retryDelay: (_, cause) => waitOf(cause) * 1000,
    },
  },
})

/** Clears the cache when another user signs in in the same tab, and the drafts when the session ends. */
let reader: number | undefined
function followSession(): void {
  const session = currentSession()
  const user = session.state === 'in' ? session.user.user_id : undefined
  if (reader !== undefined && user !== reader) queries.clear()
  reader = user
  const viewed = viewedUser()
  // Here, because a tab may be loaded anew only after somebody else has signed in at another one.
  if (user !== undefined && viewed && viewed.by !== user) view(undefined)
  // Here, because the sandbox may not have been opened since the page was loaded.
  if (session.state === 'out') {
    forgetDrafts()
    view(undefined)
  }
}
onSession(followSession)
// The service may have said who is signed in before this script had come.
followSession()
// The records of another user are others under the same names.
onViewing(() => queries.clear())

// By default a pending change is drawn after a timer, and the browser handles keys and clicks before timers: Esc would
// still close a dialog whose secret is being made, and a second click would ask twice.
notifyManager.setScheduler(queueMicrotask)

startTheme()
startDensity()
startStaying()
loadPageOf(location.pathname)

const place = document.getElementById('panel')
if (!place) throw new Error('the page has no place for the panel')
createRoot(place).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <LanguageProvider>
          <Toasts>
            <BrowserRouter>
              <App />
            </BrowserRouter>
          </Toasts>
        </LanguageProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
