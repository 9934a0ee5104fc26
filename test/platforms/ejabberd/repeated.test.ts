/** The suite's `xmpp-repeated`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-repeated.test.ts')
