/** What the audit log calls each change of the management API: one place names every route that changes something. */

export const ACTIONS = [
  'session.opened',
  'session.refused',
  'session.reused',
  'session.ended',
  'token.made',
  'token.deleted',
  'key.made',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'key.keeping_changed',
  'key.diagnosed',
  'webhook.set',
  'webhook.removed',
  'webhook.tested',
  'webhook.secret_changed',
  'webhook.replayed',
  'webhook.resent',
  'webhook.resend_stopped',
  'account.settings_changed',
  'account.restarted',
  'account.tested',
  'account.deleted',
  'account.tagged',
  'bulk.started',
  'bulk.stopped',
  'bulk.resumed',
  'link.started',
  'link.answered',
  'link.code_asked',
  'link.cancelled',
  'link.page_made',
  'view.saved',
  'view.deleted',
  'alert.acknowledged',
  'alert.silenced',
  'alert.unsilenced',
  'alert.settings_changed',
  'alert.secret_changed',
  'alert.tested',
  'sandbox.emptied',
  'user.unmasked',
  'user.suspended',
  'user.unsuspended',
  'node.drained',
  'node.undrained',
  'node.account_moved',
  'service.phone_unlocked',
  'service.signing_keys_dropped',
  'service.schema_contracted',
] as const
export type Action = (typeof ACTIONS)[number]

/** By verb and path, as the router has them. */
const ofRoutes: Readonly<Record<string, Action>> = {
  'POST /auth/login': 'session.opened',
  'POST /panel/session/login': 'session.opened',
  'POST /auth/logout': 'session.ended',
  'POST /panel/session/logout': 'session.ended',
  'DELETE /user/sessions/:id': 'session.ended',
  'POST /user/tokens': 'token.made',
  'DELETE /user/tokens/:id': 'token.deleted',
  'POST /api_keys': 'key.made',
  'PATCH /api_keys/:id': 'key.changed',
  'POST /api_keys/:id/rotate': 'key.rotated',
  'DELETE /api_keys/:id': 'key.revoked',
  'PUT /api_keys/:id/requests/exchanges': 'key.keeping_changed',
  'PUT /api_keys/:id/webhook/exchanges': 'key.keeping_changed',
  'POST /api_keys/:id/diagnosis': 'key.diagnosed',
  'POST /api_keys/:id/diagnosis/:diagnosis_id/next': 'key.diagnosed',
  'PUT /api_keys/:id/webhook': 'webhook.set',
  'DELETE /api_keys/:id/webhook': 'webhook.removed',
  'POST /api_keys/:id/webhook/test': 'webhook.tested',
  'POST /api_keys/:id/webhook/secret': 'webhook.secret_changed',
  'POST /api_keys/:id/webhook/replay': 'webhook.replayed',
  'POST /api_keys/:id/webhook/resend': 'webhook.resent',
  'DELETE /api_keys/:id/webhook/resend': 'webhook.resend_stopped',
  'PATCH /platforms/credentials/:credential_id/settings': 'account.settings_changed',
  'POST /platforms/credentials/:credential_id/restart': 'account.restarted',
  'POST /platforms/credentials/:credential_id/test': 'account.tested',
  'DELETE /platforms/credentials/:credential_id': 'account.deleted',
  'POST /platforms/credentials/tags': 'account.tagged',
  'POST /platforms/credentials/actions': 'bulk.started',
  'POST /platforms/credentials/actions/:id/stop': 'bulk.stopped',
  'POST /platforms/credentials/actions/:id/resume': 'bulk.resumed',
  'POST /platforms/:platform/link/start': 'link.started',
  'POST /platforms/:platform/link/verify': 'link.answered',
  'POST /platforms/:platform/link/:session_id/resend': 'link.code_asked',
  'DELETE /platforms/:platform/link/:session_id': 'link.cancelled',
  'POST /platforms/:platform/link/:session_id/page': 'link.page_made',
  'POST /link-pages/:token/start': 'link.started',
  'POST /link-pages/:token/answer': 'link.answered',
  'POST /link-pages/:token/resend': 'link.code_asked',
  'POST /user/views': 'view.saved',
  'DELETE /user/views/:id': 'view.deleted',
  'POST /alerts/:id/acknowledge': 'alert.acknowledged',
  'POST /alerts/:id/silence': 'alert.silenced',
  'DELETE /alerts/:id/silence': 'alert.unsilenced',
  'PUT /alerts/settings': 'alert.settings_changed',
  'POST /alerts/settings/secret': 'alert.secret_changed',
  'POST /alerts/settings/test': 'alert.tested',
  'DELETE /sandbox/network': 'sandbox.emptied',
  'POST /users/:id/unmask': 'user.unmasked',
  'POST /users/:id/suspend': 'user.suspended',
  'POST /users/:id/unsuspend': 'user.unsuspended',
}

const ofOrders: Readonly<Record<string, Action>> = {
  'POST /nodes/:incarnation/drain': 'node.drained',
  'POST /nodes/:incarnation/undrain': 'node.undrained',
  'POST /nodes/move': 'node.account_moved',
}

/** Verbs that change something, and the routes that do not, with the reason. */
const CHANGING: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']
const UNNAMED: Readonly<Record<string, string>> = {
  'POST /auth/sendOtp': 'asks for a code, which changes nothing of anybody',
  'POST /auth/refresh': 'the same sign-in goes on',
  'POST /panel/session/refresh': 'the same sign-in goes on',
  'POST /platforms/credentials/export': 'reads; its list is too long for an address',
  'DELETE /user': 'nothing stays of a user who is erased',
}
/** Bots have the request log; what people of the sandbox say is said in a game. */
const outside = /^\/(bot|file\/bot|sandbox\/)/

/** The name of what a route changes; undefined for one that changes nothing. Throws for one that nobody has named. */
export function actionOf(verb: string, path: string): Action | undefined {
  const route = `${verb} ${path}`
  const action = ofRoutes[route] ?? ofOrders[route.replace(' /operators/', ' /')]
  const isNamed = action !== undefined || route in UNNAMED || outside.test(path)
  if (isNamed || !CHANGING.includes(verb)) return action
  throw new Error(`${route} has no name in the audit log`)
}
