/** Version of this program; the build keeps it equal to package.json (a test checks it). */
export const VERSION = "0.1.0";
