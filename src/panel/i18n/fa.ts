/** The Persian catalogue, loaded when Persian is chosen. */
import type { Catalogue } from './en.ts'
import account from './fa/account.json'
import alerts from './fa/alerts.json'
import audit from './fa/audit.json'
import bots from './fa/bots.json'
import bulk from './fa/bulk.json'
import common from './fa/common.json'
import credentials from './fa/credentials.json'
import diagnosis from './fa/diagnosis.json'
import facts from './fa/facts.json'
import history from './fa/history.json'
import invitation from './fa/invitation.json'
import keys from './fa/keys.json'
import linking from './fa/linking.json'
import nodes from './fa/nodes.json'
import own from './fa/own.json'
import refusals from './fa/refusals.json'
import sandbox from './fa/sandbox.json'

export const fa: Catalogue = {
  ...common,
  ...credentials,
  ...bulk,
  ...alerts,
  ...linking,
  ...keys,
  ...sandbox,
  ...bots,
  ...nodes,
  ...own,
  ...account,
  ...audit,
  ...diagnosis,
  ...invitation,
  ...history,
  ...facts,
  ...refusals,
}
