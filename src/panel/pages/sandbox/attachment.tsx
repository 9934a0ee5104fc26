/** A file in a message: a picture is shown, films and sounds are played, anything else can be saved. */

import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiFailure } from '../../api/failure.ts'
import { type Media, type StickerSet, stickerSetsQuery } from '../../api/sandbox.ts'
import { accessToken } from '../../api/session.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

/** A file of the service, which wants the access token that an image's address cannot carry. */
async function bytesOf(path: string, type: string, signal: AbortSignal): Promise<Blob> {
  const authorization = `Bearer ${await accessToken()}`
  const response = await fetch(path, { headers: { authorization }, signal, credentials: 'omit' })
  if (!response.ok) throw new ApiFailure(response.status, response.statusText)
  return new Blob([await response.arrayBuffer()], { type })
}

const ofType = (type: string, { mime_type = '' }: Media) => mime_type.startsWith(`${type}/`)

export const isPicture = (media: Media) =>
  media.type === 'photo' || (media.type === 'sticker' && ofType('image', media))

export function Attachment({ media }: { readonly media: Media }) {
  if (media.live) return <LivePhoto media={media} film={media.live} />
  if (isPicture(media)) return <Picture media={media} />
  switch (media.type) {
    case 'sticker':
      return ofType('video', media) ? (
        <MovingPicture media={media} />
      ) : (
        <StickerEmoji media={media} />
      )
    case 'animation':
      return <MovingPicture media={media} />
    case 'video':
    case 'video_note':
    case 'audio':
    case 'voice':
      return <Recording media={media} />
    default:
      return <Saving media={media} />
  }
}

/** An animated sticker is a drawing that no browser knows. */
const StickerEmoji = ({ media }: { readonly media: Media }) => (
  <span className="sticker-emoji">{media.emoji ?? '🖼'}</span>
)

type Shown = Omit<Media, 'live'>

/** An address of the file's bytes within this page, once they are there. */
function useFile({ file, url, mime_type }: Shown, type: string) {
  const { data, isError } = useQuery({
    queryKey: ['sandbox', 'file', file],
    queryFn: ({ signal }) => bytesOf(url, mime_type ?? type, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (!data) return
    const made = URL.createObjectURL(data)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  return { address, isGone: isError }
}

export function Picture({ media }: { readonly media: Shown }) {
  const t = useT()
  const { address, isGone } = useFile(media, 'image/jpeg')
  const { width = 320, height = 240 } = media
  if (isGone) return <span className="quiet small">{t('messenger.fileGone')}</span>
  return (
    <img
      className="picture"
      src={address}
      alt={media.emoji ?? media.file_name ?? t('messenger.photo')}
      width={width}
      height={height}
    />
  )
}

interface LivePhotoProps {
  readonly media: Media
  readonly film: Shown
}

/** The film runs over the picture as long as the pointer or the focus is on it; a finger holds it. */
function LivePhoto({ media, film }: LivePhotoProps) {
  const t = useT()
  const [isPlaying, setPlaying] = useState(false)
  const play = () => setPlaying(true)
  const stop = () => setPlaying(false)
  return (
    <button
      type="button"
      className="live-photo"
      aria-label={t('messenger.playFilm')}
      onPointerEnter={play}
      onPointerLeave={stop}
      onFocus={play}
      onBlur={stop}
    >
      <Picture media={media} />
      {isPlaying ? <Film film={film} /> : <span className="tiny">{t('messenger.livePhoto')}</span>}
    </button>
  )
}

function Film({ film }: Pick<LivePhotoProps, 'film'>) {
  const { address } = useFile(film, 'video/mp4')
  return address && <video src={address} muted autoPlay loop playsInline />
}

const wantsStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches

/** The photo of a person: an animated one moves, unless the reader wants pictures to stand still. */
export const ProfilePhoto = ({ media }: { readonly media: Media }) =>
  media.live && !wantsStill() ? <Film film={media.live} /> : <Picture media={media} />

/** Runs by itself, without a sound, unless the reader wants pictures to stand still. */
function MovingPicture({ media }: { readonly media: Media }) {
  const t = useT()
  const { address, isGone } = useFile(media, 'video/mp4')
  const [isUnknown, setUnknown] = useState(false)
  if (isGone) return <span className="quiet small">{t('messenger.fileGone')}</span>
  if (isUnknown) return <Saving media={media} />
  const isStill = wantsStill()
  return (
    <video
      className="picture"
      src={address}
      aria-label={media.emoji ?? t.word('messenger.kind', media.type)}
      width={media.width}
      height={media.height}
      muted
      loop
      playsInline
      autoPlay={!isStill}
      controls={media.type === 'animation' || isStill}
      onError={() => setUnknown(true)}
    />
  )
}

/** A film or a sound: fetched when it is to be played, because it may be large. */
function Recording({ media }: { readonly media: Media }) {
  const t = useT()
  const { bytes } = useFormats()
  const [isPlaying, setPlaying] = useState(false)
  const title = [media.performer, media.title].filter(Boolean).join(' – ')
  const name = title || media.file_name || t.word('messenger.kind', media.type)
  const { duration, file_size: size } = media
  const facts = [
    duration !== undefined && t('pay.seconds', { seconds: duration }),
    size !== undefined && bytes(size),
  ]
  const shown = facts.filter(Boolean).join(' ')
  return (
    <span className="recording">
      {isPlaying ? (
        <Player media={media} name={name} />
      ) : (
        <Button size="slim" icon="play" onClick={() => setPlaying(true)}>
          <span className="unseen">{t('messenger.play')}</span> <span className="clip">{name}</span>{' '}
          <span className="quiet tiny">{shown}</span>
        </Button>
      )}
      <Saving media={media} isBare />
    </span>
  )
}

interface PlayerProps {
  readonly media: Media
  readonly name: string
}

function Player({ media, name }: PlayerProps) {
  const t = useT()
  const isSound = media.type === 'audio' || media.type === 'voice'
  const { address, isGone } = useFile(media, isSound ? 'audio/ogg' : 'video/mp4')
  const [isUnknown, setUnknown] = useState(false)
  if (isGone) return <span className="quiet small">{t('messenger.fileGone')}</span>
  if (isUnknown) return <span className="quiet small">{t('messenger.unplayable')}</span>
  const props = {
    ...{ src: address, 'aria-label': name, controls: true, autoPlay: true },
    onError: () => setUnknown(true),
  }
  return isSound ? (
    <audio {...props} />
  ) : (
    <video
      {...props}
      className={media.type === 'video_note' ? 'picture round' : 'picture'}
      width={media.width}
      height={media.height}
      playsInline
    />
  )
}

interface CustomEmojiProps {
  readonly id: string | undefined
  /** Shown where the emoji is not known: the ordinary one that it stands for. */
  readonly children: ReactNode
}

export function CustomEmoji({ id, children }: CustomEmojiProps) {
  const stickerIn = (sets: readonly StickerSet[] = []) =>
    sets
      .flatMap(({ stickers }) => stickers)
      .find(({ custom_emoji_id }) => custom_emoji_id !== undefined && custom_emoji_id === id)
  const { data } = useQuery({
    ...stickerSetsQuery,
    // A set may be newer than what was read.
    refetchOnMount: ({ state }) => (stickerIn(state.data) ? false : 'always'),
  })
  const sticker = stickerIn(data)
  if (!sticker || !isPicture(sticker)) return children
  return (
    <span className="custom-emoji">
      <Picture media={sticker} />
    </span>
  )
}

interface SavingProps {
  readonly media: Media
  /** Its name stands beside it already. */
  readonly isBare?: boolean
}

function Saving({ media, isBare = false }: SavingProps) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const { bytes } = useFormats()
  const name = media.file_name ?? t.word('messenger.kind', media.type)
  const save = async () => {
    try {
      const type = 'application/octet-stream'
      const blob = await bytesOf(media.url, type, AbortSignal.timeout(60_000))
      const address = URL.createObjectURL(blob)
      Object.assign(document.createElement('a'), { href: address, download: name }).click()
      URL.revokeObjectURL(address)
    } catch (cause) {
      toast(reason(cause), 'bad')
    }
  }
  if (isBare) {
    const label = t('messenger.save', { name })
    return <Button kind="bare" size="slim" icon="download" aria-label={label} onClick={save} />
  }
  return (
    <Button size="slim" icon="download" onClick={save}>
      <span className="clip">{name}</span>
      {media.file_size !== undefined && (
        <span className="quiet tiny">{bytes(media.file_size)}</span>
      )}
    </Button>
  )
}
