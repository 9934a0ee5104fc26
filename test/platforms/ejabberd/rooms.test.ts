/** The suite's `xmpp-rooms`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-rooms.test.ts')
