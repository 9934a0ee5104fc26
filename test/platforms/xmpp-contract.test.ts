/** XMPP keeps the contract of every platform. */
import t from 'tap'
import { platformContract } from './contract.ts'
import { xmppHarness } from './xmpp/harness.ts'
import { Network } from './xmpp/network.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const { skip } = serverUnderTest()

if (skip) t.pass('not run', { skip })
else platformContract(t, 'XMPP', async (t) => xmppHarness(await Network.start(t)))
