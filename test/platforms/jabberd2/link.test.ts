/** The suite's `xmpp-link`, on jabberd2. */
import { useServer } from '../xmpp/under-test.ts'

useServer('jabberd2')
await import('../xmpp-link.test.ts')
