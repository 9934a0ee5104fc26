/** XMPP keeps the contract of every platform. */
import t from 'tap'
import { prosodyMissing } from '../support/prosody.ts'
import { platformContract } from './contract.ts'
import { xmppHarness } from './xmpp/harness.ts'
import { Network } from './xmpp/network.ts'

if (prosodyMissing) t.pass('not run', { skip: prosodyMissing })
else platformContract('XMPP', async (t) => xmppHarness(await Network.start(t)))
