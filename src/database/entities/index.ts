/** Every entity that MikroORM manages. A new one is a file beside this and a line here. */
import type { EntitySchema } from '@mikro-orm/core'
import {
  AppUser,
  OtpChallenge,
  PersonalToken,
  RefreshToken,
  SigningKey,
  UserSession,
} from './accounts.ts'
import { ApiKey, Credential } from './credentials.ts'
import { Diagnosis } from './diagnoses.ts'
import { LinkPage, LinkSession } from './links.ts'
import { MediaPath } from './media.ts'

export const entities: readonly EntitySchema[] = [
  AppUser,
  OtpChallenge,
  UserSession,
  RefreshToken,
  PersonalToken,
  SigningKey,
  Credential,
  ApiKey,
  LinkSession,
  LinkPage,
  Diagnosis,
  MediaPath,
]
