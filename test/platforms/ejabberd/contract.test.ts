/** The suite's `xmpp-contract`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-contract.test.ts')
