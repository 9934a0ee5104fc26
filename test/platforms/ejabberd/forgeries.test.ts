/** The suite's `xmpp-forgeries`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-forgeries.test.ts')
