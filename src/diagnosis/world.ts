/** What the steps of a diagnosis look at. */
import type { CredentialActor } from '../../actors/credential/actor.ts'
import type { Json } from '../../actors/ports/platform.ts'
import type { Irregularities } from '../credentials/irregularities.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import type { CredentialRecord } from '../records/credential.ts'
import type { ReceivingFacts, Refusal } from './receiving.ts'

export interface ExaminerWorld {
  now(): number
  /** A round trip that takes longer is slow. */
  readonly slowAfterMs: number
  key(userId: number, apiKeyId: number): Promise<ApiKeyRecord>
  credential(userId: number, credentialId: number): Promise<CredentialRecord>
  actor(credentialId: number): Promise<CredentialActor>
  /** The account as getMe shows it. */
  profile(credentialId: number): Promise<Json>
  readonly irregularities: Pick<Irregularities, 'of'>
  receiving(key: ApiKeyRecord): Promise<ReceivingFacts>
  /** What calls of the key were refused with lately, newest first. */
  refusals(apiKeyId: number): Promise<readonly Refusal[]>
  /** Whether somebody polls with the key, or did a moment ago. */
  isPolled(apiKeyId: number): boolean
}
