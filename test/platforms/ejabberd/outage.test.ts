/** The suite's `xmpp-outage`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-outage.test.ts')
