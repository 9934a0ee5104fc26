/** The suite's `xmpp-catch-up`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-catch-up.test.ts')
