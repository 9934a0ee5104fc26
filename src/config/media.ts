/** How large files may be, where they lie, and what may work on them, as the environment has it. */
import { type Static, Type } from 'typebox'
import { type MediaLimits, usualLimits } from '../media/media.ts'
import type { S3Options } from '../media/object-store.ts'
import { ConfigurationError } from './environment.ts'

const Bytes = (standard: number) =>
  Type.Integer({ minimum: 1_024, maximum: 2 ** 31, default: standard })
const s3Names = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const

export const mediaVariables = {
  PHOTO_LIMIT: Bytes(usualLimits.photoBytes),
  UPLOAD_LIMIT: Bytes(usualLimits.uploadBytes),
  DOWNLOAD_LIMIT: Bytes(usualLimits.downloadBytes),
  /** Bytes that one user may use. */
  FILE_QUOTA: Type.Integer({ minimum: 0, maximum: 2 ** 50, default: usualLimits.quotaBytes }),
  FILE_QUOTA_COUNT: Type.Integer({
    minimum: 0,
    maximum: 2 ** 31 - 1,
    default: usualLimits.quotaFiles,
  }),
  /** Hours; an hour is what getFile promises. */
  FILE_RETENTION: Type.Integer({ minimum: 1, maximum: 87_600, default: 24 }),
  FILE_URL_ALLOW_PRIVATE: Type.Optional(Type.Boolean()),
  FFMPEG: Type.Boolean({ default: true }),
  FFMPEG_CONFINED: Type.Boolean({ default: false }),
  S3_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'must begin with http:// or https://' }),
  ),
  S3_BUCKET: Type.Optional(Type.String({ minLength: 1 })),
  S3_REGION: Type.String({ minLength: 1, default: 'us-east-1' }),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ minLength: 1 })),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ minLength: 1 })),
}

const Variables = Type.Object(mediaVariables)
type Variables = Static<typeof Variables>

export interface MediaSettings {
  readonly limits: MediaLimits
  /** Addresses of this machine and its network may be fetched from. */
  readonly allowPrivate: boolean
  /** The folders in which ffmpeg is searched; empty: ffmpeg is not used. */
  readonly searchPath: string
  /** Use it only where bubblewrap hides the service's files from it. */
  readonly mustConfine: boolean
  readonly s3: S3Options | undefined
}

/** `isTrial`: the service is meant for one person on this machine. */
export function mediaFrom(env: Variables, isTrial: boolean, searchPath = ''): MediaSettings {
  return {
    limits: {
      ...usualLimits,
      photoBytes: env.PHOTO_LIMIT,
      uploadBytes: env.UPLOAD_LIMIT,
      downloadBytes: env.DOWNLOAD_LIMIT,
      quotaBytes: env.FILE_QUOTA,
      quotaFiles: env.FILE_QUOTA_COUNT,
      keepSeconds: env.FILE_RETENTION * 3_600,
    },
    allowPrivate: env.FILE_URL_ALLOW_PRIVATE ?? isTrial,
    searchPath: env.FFMPEG ? searchPath : '',
    mustConfine: env.FFMPEG_CONFINED,
    s3: s3From(env),
  }
}

function s3From(env: Variables): S3Options | undefined {
  const missing = s3Names.filter((name) => env[name] === undefined)
  if (missing.length === s3Names.length) return undefined
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region } = env
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) {
    throw new ConfigurationError(`${missing[0]} must be set, since other S3 variables are`)
  }
  return { endpoint, bucket, region, accessKeyId, secretAccessKey }
}
