const shapes = {
  alert: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.9v.1',
  archive: 'M2 3h12v3H2zM3 6v7.5h10V6M6.5 9h3',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.5 14h3',
  chart: 'M2 13.5h12M4 11V8M8 11V3.5M12 11V6',
  check: 'm3 8.5 3.2 3.2L13 5',
  close: 'm4 4 8 8M12 4l-8 8',
  code: 'm5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5l3.5 3.5-3.5 3.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  timeline: 'M2 3v10.5h12M4.5 5h4M6.5 8h5M9 11h4.5',
  down: 'm4 6 4 4 4-4',
  gear: 'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  graph:
    'M4 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5.9 4.7l4.2 1.6M10.3 8.2l-3.7 2.6',
  inbox: 'M2 9h3.5l1 2h3l1-2H14M2 9l2-6h8l2 6v4.5H2z',
  ladder: 'M5 2v12M11 2v12M5 5h6M5 8h6M5 11h6',
  letter: 'M2 3.5h12v9H2zM2.5 4l5.5 4.5L13.5 4',
  link: 'M7 9.5a2.5 2.5 0 0 0 3.6 0l2.4-2.4a2.5 2.5 0 0 0-3.6-3.6l-.9.9M9 6.5a2.5 2.5 0 0 0-3.6 0L3 8.9a2.5 2.5 0 0 0 3.6 3.6l.9-.9',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  clock: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.7V8l2.3 1.5',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  pen: 'm3 13 .7-3L11 2.7l2.3 2.3L6 12.3z',
  people:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM2 13c0-2.2 1.8-3.5 4-3.5s4 1.3 4 3.5M11 7.5a2 2 0 0 0 0-4M14 12.5c0-1.7-1-2.8-2.5-3.1',
  play: 'M5 3.5v9l7.5-4.5z',
  plus: 'M8 3v10M3 8h10',
  reply: 'M6.5 4 2.5 8l4 4M3 8h6.5c2.5 0 4 1.5 4 4.5',
  save: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3',
  send: 'M2.5 8 13.5 3l-3.5 10.5-2.5-4.5zM7.5 9l6-6',
  sequence: 'M4 2v12M12 2v12M4 5.5h7M9 4l2 1.5L9 7M12 10.5H5M7 9l-2 1.5L7 12',
  stop: 'M5.5 2.5h5l3 3v5l-3 3h-5l-3-3v-5z',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1',
  threads: 'M2 3h9v6H6l-2.5 2.5V9H2zM13 6v6h-.8v2L10 12H7.5',
} as const
export type IconName = keyof typeof shapes

/** Decorative: next to text, or in a control that has a label. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path
      d={shapes[name]}
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
)
