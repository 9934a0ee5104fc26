/** How large files may be, how much of them is kept, and for how long. */
export interface MediaLimits {
  readonly photoBytes: number
  readonly uploadBytes: number
  /** What getFile tools out. */
  readonly downloadBytes: number
  /** Of one user. */
  readonly quotaBytes: number
  readonly quotaFiles: number
  /** How long a file is kept that no message holds. */
  readonly keepSeconds: number
  readonly urlTakes: number
}

export const usualLimits: MediaLimits = {
  photoBytes: 10_485_760,
  uploadBytes: 52_428_800,
  downloadBytes: 20_971_520,
  quotaBytes: 10 * 2 ** 30,
  quotaFiles: 100_000,
  keepSeconds: 86_400,
  urlTakes: 30_000,
}

/** The reference's, for files that the service fetches itself. */
const URL_PHOTO_BYTES = 5_242_880
const URL_FILE_BYTES = 20_971_520

export const urlLimit = (kind: string, { photoBytes, uploadBytes }: MediaLimits): number =>
  kind === 'photo' ? Math.min(photoBytes, URL_PHOTO_BYTES) : Math.min(uploadBytes, URL_FILE_BYTES)
