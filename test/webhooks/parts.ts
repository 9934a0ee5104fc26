/** What an endpoint is built with, as far as its test does not give it. */
import type { Test } from 'tap'
import { resolveAnything } from '../../src/net/resolver.ts'
import type { EndpointParts } from '../../src/webhooks/endpoint.ts'
import { Connections } from '../../src/webhooks/endpoint.ts'
import type { SigningSecrets } from '../../src/webhooks/secrets.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'

/** Keys have no signing secrets. */
export const endpointParts = (t: Test, more: Partial<EndpointParts> = {}): EndpointParts => ({
  guard: { allowPrivate: true, resolve: resolveAnything },
  timeoutMs: 2_000,
  secrets: only<SigningSecrets>(t, 'SigningSecrets', {
    known: () => ({ found: undefined, signing: [] }),
  }),
  connections: new Connections(),
  logger: quietLogger,
  call: async () => undefined,
  record: () => undefined,
  keepsExchange: () => false,
  ...more,
})
