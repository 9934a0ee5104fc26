/** The suite's `xmpp-reactions`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-reactions.test.ts')
