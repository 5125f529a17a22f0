export declare const maxPackedBytes: number
export declare function pack(root: string, into: string): { file: string; bytes: number; paths: string[] }
export declare function tryPackage(tarball: string, dir: string): Promise<string>
