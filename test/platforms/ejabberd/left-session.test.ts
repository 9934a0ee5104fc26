/** The suite's `xmpp-left-session`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-left-session.test.ts')
