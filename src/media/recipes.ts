/** The options of ffmpeg for each kind, between the input and the output. */

const h264 = (filter: string) => [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-pix_fmt', 'yuv420p'],
  ...['-vf', filter, '-movflags', '+faststart', '-f', 'mp4'],
]
const aac = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2']
const firstFilm = ['-map', '0:v:0']
const perhapsSound = ['-map', '0:a:0?']

/** H.264 wants even sides; nothing is shown larger than full HD. */
const evenWithin = (width: number) => `scale=trunc(min(iw\\,${width})/2)*2:-2`

export const voice = [
  ...['-vn', '-map', '0:a:0', '-c:a', 'libopus', '-b:a', '48k', '-ac', '1', '-ar', '48000'],
  ...['-f', 'ogg'],
]
export const video = [...firstFilm, ...perhapsSound, ...aac, ...h264(evenWithin(1_920))]
/** Only the order of its parts is changed. */
export const reordered = [
  ...[...firstFilm, ...perhapsSound, '-c', 'copy'],
  ...['-movflags', '+faststart', '-f', 'mp4'],
]
export const animation = [...firstFilm, '-an', ...h264(evenWithin(1_280))]

export const NOTE_SIDE = 384
export const videoNote = [
  ...[...firstFilm, ...perhapsSound, ...aac, '-t', '60'],
  ...h264(`scale=${NOTE_SIDE}:${NOTE_SIDE}`),
]
/** One frame of a film, as large as it is; none where the film is shorter. */
export const frameAt = (second: number): string[] => [
  ...[...firstFilm, '-an', '-ss', second.toFixed(3), '-frames:v', '1'],
  ...['-c:v', 'mjpeg', '-q:v', '2', '-f', 'image2', '-update', '1'],
]
/** The first frame of a film, or the cover of a song. */
export const still = [
  ...[...firstFilm, '-an', '-frames:v', '1'],
  ...['-vf', 'scale=320:320:force_original_aspect_ratio=decrease'],
  ...['-c:v', 'mjpeg', '-q:v', '4', '-f', 'image2', '-update', '1'],
]
