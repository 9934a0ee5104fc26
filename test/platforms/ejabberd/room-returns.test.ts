/** The suite's `xmpp-room-returns`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-room-returns.test.ts')
